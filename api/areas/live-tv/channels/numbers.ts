/** A channel's number: one to four digits, and up to three after a point. */
export const NUMBER = /^(0|[1-9]\d{0,3})(\.\d{1,3})?$/;

/** Thousandths, so that 2.10 comes after 2.9. */
export function numberOrder(number: string): number {
  const [whole = '0', part = '0'] = number.split('.');
  return Number(whole) * 1000 + Number(part);
}

export const wholeOf = (number: string): number => Number(number.split('.')[0]);

/** The number that a device or playlist gives, such as `007` or `2-1`; undefined for any other text. */
export function tidyNumber(text: string | undefined): string | undefined {
  const bare = text?.trim().replace('-', '.').replace(/^0+/, '');
  const plain = bare === '' || bare?.startsWith('.') ? `0${bare}` : bare;
  return plain !== undefined && NUMBER.test(plain) ? plain : undefined;
}

const MOST_WHOLE = 9999;

/** Number by place: beyond 9,999 they go on as 1.1, 2.1 and so on. */
export function numberAt(index: number): string {
  const round = Math.floor(index / MOST_WHOLE);
  const whole = (index % MOST_WHOLE) + 1;
  return round === 0 ? String(whole) : `${whole}.${round}`;
}

/** First whole number for channels whose own is taken. */
const SPARE = 1000;

/** Numbers of the enabled channels of a library. */
export class Numbers {
  readonly #taken: Set<string>;
  #spare = SPARE;

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** True when the number is free, and taken from now on. */
  take(number: string): boolean {
    if (this.#taken.has(number)) return false;
    this.#taken.add(number);
    return true;
  }

  /** The wanted number, else a free one from 1000 on; undefined when there is none left. */
  takeOr(wanted: string): string | undefined {
    if (this.take(wanted)) return wanted;
    for (; this.#spare <= MOST_WHOLE; this.#spare += 1) if (this.take(String(this.#spare))) return String(this.#spare);
    return undefined;
  }
}
