/** What a game server says about itself, whatever its game. */
export type GameFacts = {
  readonly name: string;
  readonly map: string;
  readonly players: number;
  readonly maxPlayers: number;
  readonly version: string;
};

/** Reads a packet in its order, least significant byte first; throws a `RangeError` beyond its end. */
export class PacketReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  octet(): number {
    this.#at += 1;
    return this.#bytes.readUInt8(this.#at - 1);
  }

  skip(count: number): void {
    this.#at += count;
  }

  /** A text that ends with a zero. */
  text(): string {
    const end = this.#bytes.indexOf(0, this.#at);
    if (end === -1) throw new RangeError('The text has no end.');
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end + 1;
    return text;
  }
}
