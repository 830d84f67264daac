import { Fields } from './fields.ts';
import { type Column, readColumn, readValue } from './values.ts';

/** What the token stream of an answer says (MS-TDS 2.2.7), as far as a check looks at it. */
export type Answer = {
  readonly errors: readonly { readonly number: number; readonly text: string }[];
  readonly loggedIn: boolean;
  readonly version: string | undefined;
  /** The server wants the client to go to another one. */
  readonly routed: boolean;
  /** Rows of the first result and its first value. */
  readonly rows: number;
  readonly first: string | null | undefined;
};

const token = {
  returnStatus: 0x79,
  columns: 0x81,
  error: 0xaa,
  info: 0xab,
  loginAcknowledged: 0xad,
  row: 0xd1,
  rowWithNulls: 0xd2,
  environment: 0xe3,
  done: 0xfd,
  doneProcedure: 0xfe,
  doneInProcedure: 0xff,
} as const;
/** Tokens that only have to be passed over: two bytes of length, then their content. */
const passedOver = new Set([0xa4, 0xa5, 0xa9, 0xed]);
const noColumns = 0xffff;
const maxColumns = 1024;
const routing = 20;

/** Reads a whole answer. Throws `TdsError` for what is none. */
export function readAnswer(bytes: Buffer): Answer {
  const fields = new Fields(bytes);
  const errors: { number: number; text: string }[] = [];
  let loggedIn = false;
  let version: string | undefined;
  let routed = false;
  let columns: readonly Column[] = [];
  let results = 0;
  let rows = 0;
  let first: string | null | undefined;
  while (!fields.ended) {
    const type = fields.byte();
    switch (type) {
      case token.error:
      case token.info: {
        const inner = new Fields(fields.take(fields.uint16()));
        const number = inner.int32();
        inner.take(2);
        if (type === token.error) errors.push({ number, text: inner.text(inner.uint16()) });
        break;
      }
      case token.loginAcknowledged: {
        const inner = new Fields(fields.take(fields.uint16()));
        inner.take(5);
        inner.text(inner.byte());
        const [major = 0, minor = 0, high = 0, low = 0] = inner.take(4);
        version = `${major}.${minor}.${high * 256 + low}`;
        loggedIn = true;
        break;
      }
      case token.environment:
        routed ||= fields.take(fields.uint16())[0] === routing;
        break;
      case token.columns: {
        const count = fields.uint16();
        if (count === noColumns) break;
        if (count > maxColumns) fields.refuse();
        columns = Array.from({ length: count }, () => readColumn(fields));
        results += 1;
        break;
      }
      case token.row:
      case token.rowWithNulls: {
        const nulls = type === token.row ? undefined : fields.take(Math.ceil(columns.length / 8));
        if (columns.length === 0) fields.refuse();
        const values = columns.map((column, at) =>
          nulls !== undefined && (((nulls[at >> 3] ?? 0) >> (at & 7)) & 1) === 1 ? null : readValue(fields, column),
        );
        if (results !== 1) break;
        if (rows === 0) [first] = values;
        rows += 1;
        break;
      }
      case token.returnStatus:
        fields.take(4);
        break;
      case token.done:
      case token.doneProcedure:
      case token.doneInProcedure:
        fields.take(12);
        break;
      default:
        if (!passedOver.has(type)) fields.refuse();
        fields.take(fields.uint16());
    }
  }
  return { errors, loggedIn, version, routed, rows, first };
}
