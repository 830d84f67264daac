/**
 * What can be wrong with one part of a request, by its stable code: `errors[].code` of an answer, described at `/docs/problems`. The codes
 * of problems stand here too where the part that caused one is named.
 */
export const inputErrors = {
  // From schemas.
  custom: 'breaks the rule that the message names',
  invalid_element: 'has an element that is not valid',
  invalid_format: 'has another form than is asked for',
  invalid_key: 'has a key that is not valid',
  invalid_type: 'has another type, or is missing',
  invalid_union: 'fits none of the forms that are taken',
  invalid_value: 'is none of the values that are taken',
  not_multiple_of: 'is no multiple of the step',
  too_big: 'is too large, too long or has too many elements',
  too_small: 'is too small, too short or has too few elements',
  unrecognized_keys: 'is a field that the route does not know',
  // About the text of a request.
  boundary: 'the form names no boundary',
  duplicate_key: 'the key stands twice in its object',
  encoding: 'is not valid UTF-8',
  file_required: 'a file is missing',
  forbidden_key: 'the key is not allowed',
  invalid_json: 'is not valid JSON',
  lone_surrogate: 'holds half of a surrogate pair',
  multipart: 'the form cannot be read',
  nul_character: 'holds NUL',
  number_out_of_range: 'is a number that cannot be stored exactly',
  syntax: 'is not valid JSON',
  too_deep: 'is nested too deeply',
  unexpected_body: 'the route takes no body',
  // About fields by themselves.
  contrast_too_low: 'can hardly be told from what lies behind it',
  common_password: 'is a password that is easily guessed',
  ends_before_start: 'ends before it starts',
  empty_window: 'is a window without length',
  email: 'is no mail address',
  format: 'is a file of no known form',
  future: 'lies in the future',
  given_twice: 'is given in two places that contradict each other',
  in_the_past: 'lies in the past',
  invalid_endpoint: 'is no endpoint of a push service',
  invalid_passkey: 'is not the answer of an authenticator',
  invalid_rule: 'is no recurrence rule that is taken',
  invalid_target: 'is no target of the channel',
  no_occurrence: 'the rule has no occurrence',
  not_allowed: 'is not allowed beside the other fields',
  not_an_occurrence: 'is no occurrence of the rule',
  not_measured: 'nothing was measured there',
  not_whole_seconds: 'is not a whole number of seconds',
  nothing_to_come: 'nothing of it is still to come',
  order: 'is not later than its beginning',
  out_of_range: 'lies outside the range that is taken',
  overlaps_for_ever: 'the occurrences overlap',
  read_only: 'is read-only and differs from what is stored',
  required: 'is missing',
  schedule: 'is no schedule that can be read',
  scope_contradicts: 'names all and parts at once',
  scope_is_empty: 'names nothing',
  secret: 'is no secret of the form that is asked for',
  target_invalid: 'is nothing that the protocol can be pointed at',
  timezone: 'is no time zone that is known',
  too_early: 'is too early',
  too_far: 'is too far ahead',
  too_late: 'is too late',
  too_long: 'is too long',
  too_short: 'is too short',
  unexpected: 'is not taken with the other fields',
  unknown_timezone: 'is no time zone that is known',
  window_too_long: 'is a window that is too long',
  wrong_code: 'is not the present code',
  wrong_password: 'is not the password of the account',
  // About pictures.
  picture_size: 'is a picture with too many pixels, or with none',
  svg: 'is no SVG that is taken',
  // About what a request refers to.
  chat_not_linked: 'the chat is not linked',
  group_cycle: 'would make a group monitor contain itself',
  name_taken: 'the name is taken',
  no_probe_able: 'no probe can run the check',
  no_probes: 'no probe checks such a monitor',
  no_tls: 'the monitor looks at nothing that has TLS',
  not_configured: 'the channel is not configured',
  not_found: 'is not there',
  other_workspace: 'belongs to another workspace',
  protocol_unknown: 'is no protocol that is known',
  own_host: 'is a host of this installation',
  slug_taken: 'the slug is taken',
  shared_workspace: 'others are members of the workspace',
  unknown_channel: 'is no channel that is known',
  unknown_group: 'there is no such group',
  unknown_monitor: 'there is no such monitor',
  unknown_probe: 'there is no such probe',
  unknown_token: 'is no token of the caller',
  // About limits.
  private_target: 'is a private address that no check of the workspace may reach',
  interval_below_plan: 'is shorter than the plan allows',
  too_many_members: 'would have too many members',
  range_too_large: 'holds too much',
  too_many_results: 'holds too many results',
  too_many_tags: 'would have too many tags',
  secret_missing: 'is a secret that the check needs',
  target_denied: 'may not be reached',
  // About imported files.
  compressed: 'the file is compressed',
  csv: 'the file is not valid CSV',
  duplicate_column: 'the header names a column twice',
  excel: 'the file is one of Excel',
  file_empty: 'the file is empty',
  no_rows: 'the file has no rows',
  not_a_backup: 'the file is no backup of Uptime Kuma',
  not_csv: 'the file is no CSV',
  too_many_columns: 'the file has too many columns',
  too_many_rows: 'the file has too many rows',
  url_column_missing: 'the header has no column with a target',
  utf_16: 'the file is in UTF-16',
  // About the request as a whole.
  conflict: 'conflicts with the present state',
  idempotency_key_in_use: 'the same request is under way',
  idempotency_key_reused: 'belongs to another request',
  invalid_input: 'is not valid',
  invalid_token: 'is no token that is valid',
} as const satisfies Record<string, string>;

export type InputErrorCode = keyof typeof inputErrors;

/** Which part of a request: a JSON pointer (RFC 6901) in a body, `/name` of a parameter or header, empty for the whole. */
export type InputPath = '' | `/${string}`;

/** One thing that is wrong with the input of a request. */
export type InputError = {
  readonly in: 'body' | 'query' | 'path' | 'header';
  readonly path: InputPath;
  readonly code: InputErrorCode;
  readonly message: string;
};
