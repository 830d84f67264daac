import { z } from 'zod';
import { pathProblem } from '../assertions/json-path.ts';
import { assertionsSchema, patternsIn } from '../assertions/settings.ts';
import { headerFields, isCredentialHeader } from '../http/fields.ts';
import { problemsOf } from '../http/keyword.ts';
import { methods } from '../http/request.ts';
import { lazily } from '../lazily.ts';
import { trustFields } from '../net/connection-settings.ts';
import { destinationProblem } from './destinations.ts';
import { hasTemplate, namePattern } from './templates.ts';

const maxSteps = 20;
const maxExtractions = 20;
const maxValues = 50;
const maxBody = 64 * 1024;

const variableName = z.string().regex(namePattern, 'A name has letters, digits and _, at most 64 of them.');
/** A value that must not stand in the settings as it is, since settings are answered and exported. */
const fromSecret = (what: string) =>
  z
    .string()
    .max(1024)
    .refine(hasTemplate, `A ${what} is put into secrets and named here, such as {{${what.replace(' ', '_')}}}.`);

const extraction = lazily(() =>
  z
    .strictObject({
      name: variableName,
      from: z.enum(['json', 'header', 'cookie', 'status', 'regex']),
      /** A JSON path, the name of a header or cookie, or a pattern whose first group is taken; none for the status. */
      path: z.string().min(1).max(256).optional(),
      /** What it is where the answer has none; without it the step fails. */
      default: z.string().max(1024).optional(),
    })
    .superRefine(({ from, path }, context) => {
      const say = (message: string | undefined): void => {
        if (message !== undefined) context.addIssue({ code: 'custom', path: ['path'], message });
      };
      if (from === 'status') return say(path === undefined ? undefined : 'The status has no path.');
      if (path === undefined) return say(`To extract from ${from} a path is needed.`);
      if (from === 'json') return say(pathProblem(path));
    }),
);
export type Extraction = z.infer<ReturnType<typeof extraction>>;

const auth = lazily(() =>
  z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('basic'),
      username: z.string().max(256),
      password: fromSecret('password'),
    }),
    z.strictObject({ type: z.literal('bearer'), token: fromSecret('token') }),
  ]),
);

const record = (value: z.ZodType<string>) =>
  z
    .record(z.string().min(1).max(256), value)
    .refine((all) => Object.keys(all).length <= maxValues, `At most ${maxValues} of them.`);

const named = (value: z.ZodType<string>) =>
  z.record(variableName, value).refine((all) => Object.keys(all).length <= maxValues, `At most ${maxValues} of them.`);

const isSmallJson = (value: unknown): boolean => (JSON.stringify(value)?.length ?? 0) <= maxBody;

const step = lazily(() =>
  z
    .strictObject({
      /** For people; absent: its number. */
      name: z
        .string()
        .max(100)
        // No pattern: it would stand in the API document, whose readers know no properties of Unicode.
        .refine((name) => !/\p{Cc}/u.test(name), 'A name has no control characters.')
        .default(''),
      method: z.enum(methods).default('GET'),
      /** Absolute, or a path on the target. Its host may be made of variables, the rest of secrets and extracted values too. */
      url: z.string().min(1).max(2048).default('/'),
      headers: headerFields().default({}),
      /** A text as it is. Only one of body, form and json. */
      body: z.string().max(maxBody).optional(),
      form: record(z.string().max(8192)).optional(),
      json: z.json().refine(isSmallJson, 'At most 64 KiB of JSON.').optional(),
      auth: auth().optional(),
      /** What has to hold of the answer. Unless it looks at the status, a status from 200 to 399 is expected. */
      assertions: assertionsSchema().optional(),
      extract: z.array(extraction()).max(maxExtractions).default([]),
      /** Seconds; absent: what is left of the monitor's timeout. */
      timeout_seconds: z.int().min(1).max(60).optional(),
      follow_redirects: z.boolean().default(true),
      verify_tls: z.boolean().default(true),
      /** Whether the steps after it are made although it failed. The check fails all the same. */
      continue_on_failure: z.boolean().default(false),
    })
    .superRefine((all, context) => {
      const bodies = [all.body, all.form, all.json].filter((each) => each !== undefined).length;
      if (bodies > 1)
        context.addIssue({ code: 'custom', path: ['body'], message: 'Give a body, a form or JSON, only one of them.' });
      for (const [name, value] of Object.entries(all.headers)) {
        if (!isCredentialHeader(name) || hasTemplate(value)) continue;
        const message = `The value of ${name} is a credential: put it into secrets and name it here, such as {{token}}.`;
        context.addIssue({ code: 'custom', path: ['headers', name], message });
      }
    }),
);
export type Step = z.infer<ReturnType<typeof step>>;

const bareStep = (): Step => ({
  name: '',
  method: 'GET',
  url: '/',
  headers: {},
  extract: [],
  follow_redirects: true,
  verify_tls: true,
  continue_on_failure: false,
});

/** Judges the patterns of all steps, once they were counted. The API document's own schemas know a step only, so they judge none. */
function judgePatterns(steps: readonly Step[], context: z.RefinementCtx): void {
  const isTooMuch = steps.length > maxSteps || steps.some(({ extract }) => extract.length > maxExtractions);
  if (isTooMuch) return;
  const taken = steps.flatMap(({ extract }, step) =>
    extract.flatMap(({ from, path }, index) =>
      from === 'regex' && path !== undefined
        ? [{ pattern: path, ignore_case: false, path: ['steps', step, 'extract', index, 'path'] }]
        : [],
    ),
  );
  const asserted = steps.flatMap(({ assertions }, step) =>
    assertions === undefined ? [] : patternsIn(assertions, ['steps', step, 'assertions']),
  );
  // Those of assertions were judged each by itself.
  const all = [...taken, ...asserted];
  for (const { index, problem } of problemsOf(all)) {
    const path = index === undefined ? ['steps'] : index < taken.length ? all[index]?.path : undefined;
    if (path !== undefined) context.addIssue({ code: 'custom', path: [...path], message: problem });
  }
}

/** Settings of `api`. */
export const apiSettings = lazily(() =>
  z
    .strictObject({
      /** Requests, made one after the other. */
      steps: z.array(step()).min(1).max(maxSteps).default([bareStep()]),
      /** Values that steps name as `{{name}}`; answered and exported as they are. */
      variables: named(z.string().max(8192)).default({}),
      /** Values that steps name as well and that are never shown. They go into paths, queries, headers and bodies, not into hosts. */
      secrets: named(z.string().min(1).max(8192)).default({}),
      /** Authorities in PEM form to trust instead of the public ones, in all steps. */
      ca_certificates: trustFields().ca_certificates,
    })
    .superRefine((all, context) => {
      for (const name of Object.keys(all.secrets))
        if (Object.hasOwn(all.variables, name))
          context.addIssue({
            code: 'custom',
            path: ['variables', name],
            message: `There is a secret named ${name} too.`,
          });
      for (const [index, { url }] of all.steps.entries()) {
        const message = destinationProblem(url, all.variables);
        if (message !== undefined) context.addIssue({ code: 'custom', path: ['steps', index, 'url'], message });
      }
      judgePatterns(all.steps, context);
    }),
);
export type ApiSettings = z.infer<ReturnType<typeof apiSettings>>;
