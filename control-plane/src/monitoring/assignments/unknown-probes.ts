import { Problem } from '@parallax/api-contract';

/** @param places of the unknown ones in the list `probe_ids` of the body */
export function unknownProbes(detail: string, places: readonly number[]): Problem {
  return new Problem('invalid_input', detail, {
    errors: places.map((place) => ({
      in: 'body',
      path: `/probe_ids/${place}`,
      code: 'unknown_probe',
      message: 'there is no such probe here',
    })),
  });
}
