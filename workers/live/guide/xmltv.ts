// Reads XMLTV as a stream: one channel or programme at a time is held.
import { SaxesParser } from 'saxes';
import { GuideRefused } from './refused.ts';

/** An element of a channel or programme. */
export interface Element {
  name: string;
  attributes: Readonly<Record<string, string>>;
  text: string;
  children: Element[];
}

const MOST_TEXT = 8000;
const MOST_ELEMENTS = 500;
const MOST_DEPTH = 5;
/** Characters without the end of a tag, a text or a comment, which the parser would hold. */
const MOST_HELD = 1 << 20;

/**
 * Calls `taken` with each whole channel and programme. Entities of a document type are never expanded, and a fault in the text
 * of an entry does not end the reading; a document that is not XMLTV or ends too early throws `GuideRefused`.
 */
export class XmltvReader {
  readonly #parser = new SaxesParser({ position: false });
  readonly #taken: (entry: Element) => void;
  readonly #open: Element[] = [];
  #depth = 0;
  #count = 0;
  #held = 0;
  #isXmltv = false;
  #isWhole = false;

  constructor(taken: (entry: Element) => void) {
    this.#taken = taken;
    this.#parser.on('error', () => undefined);
    this.#parser.on('opentag', ({ name, attributes }) => this.#begin(name, attributes as Record<string, string>));
    this.#parser.on('closetag', () => this.#end());
    this.#parser.on('text', (text) => this.#text(text));
    this.#parser.on('cdata', (text) => this.#text(text));
    // saxes stores a handler by a computed name: with eight of them V8 makes its parser a dictionary, four times as slow.
    this.#parser.on('comment', () => {
      this.#held = 0;
    });
  }

  /** Whether the root is `tv`. */
  get isXmltv(): boolean {
    return this.#isXmltv;
  }

  write(text: string): void {
    this.#held += text.length;
    this.#parser.write(text);
    if (this.#held > MOST_HELD + text.length) throw new GuideRefused('not_xmltv', 'a text of the guide is too long');
  }

  end(): void {
    if (!this.isXmltv) throw new GuideRefused('not_xmltv', 'this is not XMLTV');
    if (!this.#isWhole) throw new GuideRefused('incomplete', 'the guide ends in the middle');
  }

  #begin(name: string, attributes: Record<string, string>): void {
    this.#held = 0;
    this.#depth += 1;
    if (this.#depth === 1 && name !== 'tv') throw new GuideRefused('not_xmltv', `the document is ${name.slice(0, 40)}`);
    this.#isXmltv = true;
    const isEntry = this.#depth === 2 && (name === 'channel' || name === 'programme');
    if (isEntry) this.#count = 0;
    if (isEntry || this.#open.length > 0) this.#keep({ name, attributes, text: '', children: [] });
  }

  /** Elements that are too many or too deep are read and left out. */
  #keep(element: Element): void {
    this.#count += 1;
    if (this.#count <= MOST_ELEMENTS && this.#open.length < MOST_DEPTH) this.#open.at(-1)?.children.push(element);
    this.#open.push(element);
  }

  #end(): void {
    this.#held = 0;
    this.#depth -= 1;
    if (this.#depth === 0) this.#isWhole = true;
    const element = this.#open.pop();
    if (element && this.#open.length === 0) this.#taken(element);
  }

  #text(text: string): void {
    this.#held = 0;
    const element = this.#open.at(-1);
    if (element && element.text.length < MOST_TEXT) element.text += text.slice(0, MOST_TEXT - element.text.length);
  }
}
