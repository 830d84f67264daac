import type { CreateIncident, IncidentTemplate } from '@parallax/api-contract';

/** What an incident by hand is made from, with nothing missing. */
export type FilledIncident = Omit<CreateIncident, 'title' | 'severity' | 'template_id'> & {
  readonly title: string;
  readonly severity: IncidentTemplate['severity'];
};

/** Fills what a body leaves out with what a template says. What a body gives stays, also `null`. @param template null: none is named */
export function fillIncident(
  body: CreateIncident,
  template: Pick<IncidentTemplate, 'title' | 'severity' | 'public_title' | 'update'> | null,
): FilledIncident {
  const { title, severity, template_id: _template, ...rest } = body;
  const filledTitle = title ?? template?.title;
  if (filledTitle === undefined) throw new Error('an incident has neither a title nor a template');
  const update = body.update === undefined ? updateOf(template?.update) : body.update;
  return {
    ...rest,
    title: filledTitle,
    severity: severity ?? template?.severity ?? 'major',
    public_title: body.public_title === undefined ? template?.public_title : body.public_title,
    update,
  };
}

function updateOf(update: IncidentTemplate['update'] | undefined): CreateIncident['update'] {
  // No template ends an incident.
  if (update == null || update.kind === 'resolved') return null;
  return { kind: update.kind, body: update.body, is_public: false, notify: true, impacts: [] };
}
