import type { AlertTargetInput, InputPath, ShownAlertTarget } from '@parallax/api-contract';

/** Whom a message goes to, as it is stored: the channel by its neutral name, the target in the form in which it is compared. */
export type StoredTarget = {
  readonly channel: string;
  /** Null: mail that the installation sends. */
  readonly config_id: number | null;
  readonly target: string;
  /** Its own; null: that of the alert's owner when a message is sent. */
  readonly locale: 'en' | 'ru' | null;
  readonly timezone: string | null;
};

export type StoredStep = { readonly after_seconds: number; readonly targets: readonly StoredTarget[] };

/** A target of a body with its place in it: "/steps/0/targets/2". */
export type PlacedTarget = { readonly path: InputPath; readonly target: StoredTarget };

/** Of whoever makes an alert: what a target is given that names nothing else. */
export type OwnDefaults = {
  readonly email: string | null;
};

/** What was given of a target, as it would be stored; whether it can be is judged elsewhere. Without a target: '' unless it is mail. */
export function givenTarget(given: AlertTargetInput, own: OwnDefaults): StoredTarget {
  const isOwnMail = given.channel === 'email' && given.target == null;
  return {
    channel: given.channel,
    config_id: given.config_id ?? null,
    target: given.target ?? (isOwnMail ? (own.email ?? '') : ''),
    locale: given.locale ?? null,
    timezone: given.timezone ?? null,
  };
}

/** A target as somebody may see it. @param mask absent for the owner, who sees it whole */
export function shownTarget(target: StoredTarget, mask?: (target: StoredTarget) => string): ShownAlertTarget {
  return { ...target, target: mask === undefined ? target.target : mask(target) };
}

/** What is told twice when two targets are the same. */
export function sameTarget(one: StoredTarget | ShownAlertTarget, other: StoredTarget | ShownAlertTarget): boolean {
  return (
    one.channel === other.channel &&
    one.config_id === other.config_id &&
    one.target === other.target &&
    one.locale === other.locale &&
    one.timezone === other.timezone
  );
}

/** Whether steps say what others say, delays and order included. */
export function sameSteps(
  one: readonly { readonly after_seconds: number; readonly targets: readonly (StoredTarget | ShownAlertTarget)[] }[],
  other: readonly { readonly after_seconds: number; readonly targets: readonly (StoredTarget | ShownAlertTarget)[] }[],
): boolean {
  return (
    one.length === other.length &&
    one.every((step, index) => {
      const beside = other[index];
      return (
        beside !== undefined &&
        step.after_seconds === beside.after_seconds &&
        step.targets.length === beside.targets.length &&
        step.targets.every((target, place) => {
          const against = beside.targets[place];
          return against !== undefined && sameTarget(target, against);
        })
      );
    })
  );
}
