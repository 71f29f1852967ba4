import { SaxesParser } from 'saxes';
import { UnsafeArchive } from './limits.ts';

const MOST_ELEMENTS = 20_000;
const MOST_DEPTH = 30;
const MOST_TEXT = 20_000;
/** A text with more faults is not XML. */
const MOST_FAULTS = 20;

export interface XmlElement {
  /** Without its namespace, in lower case. */
  name: string;
  /** Name of the element around it. */
  parent: string;
  /** By name in lower case, without namespaces. */
  attributes: Readonly<Record<string, string>>;
  text: string;
}

/**
 * The elements of an XML text in the order of their ends, as far as the text is XML. Document types and entities are refused,
 * so nothing outside the text is read.
 */
export function elementsOf(text: string): XmlElement[] {
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text.slice(0, 4096)) && /<!ENTITY/i.test(text))
    throw new UnsafeArchive('its description declares entities');
  const all: XmlElement[] = [];
  const open: XmlElement[] = [];
  const parser = new SaxesParser();
  let faults = 0;
  parser.on('error', () => {
    faults += 1;
    if (faults > MOST_FAULTS) throw new Error('not XML');
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (open.length >= MOST_DEPTH || all.length >= MOST_ELEMENTS) throw new Error('too deep or too many');
    const own = Object.entries(attributes as Record<string, string>).map(([key, value]) => [bare(key), value]);
    open.push({ name: bare(name), parent: open.at(-1)?.name ?? '', attributes: Object.fromEntries(own), text: '' });
  });
  const add = (chunk: string): void => {
    const top = open.at(-1);
    if (top && top.text.length < MOST_TEXT) top.text += chunk.slice(0, MOST_TEXT);
  };
  parser.on('text', add);
  parser.on('cdata', add);
  parser.on('closetag', () => {
    const closed = open.pop();
    if (closed) all.push({ ...closed, text: closed.text.trim() });
  });
  try {
    parser.write(text.replace(/^\uFEFF/, '')).close();
  } catch {
    // The elements before the fault count.
  }
  return all;
}

const bare = (name: string): string => name.slice(name.indexOf(':') + 1).toLowerCase();

/** Text of an XML file in UTF-8 or UTF-16. */
export function xmlText(bytes: Uint8Array): string {
  const little = bytes[0] === 0xff && bytes[1] === 0xfe;
  const big = bytes[0] === 0xfe && bytes[1] === 0xff;
  return new TextDecoder(little ? 'utf-16le' : big ? 'utf-16be' : 'utf-8').decode(bytes);
}
