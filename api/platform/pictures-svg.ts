// Removes scripts, external references, fonts, text, foreign objects and embedded pictures from a drawing.
import { SaxesParser } from 'saxes';

/** Elements that are kept; all others are removed with their content. */
const ELEMENTS = new Set(
  (
    'svg g defs symbol use switch path rect circle ellipse line polyline polygon linearGradient radialGradient stop clipPath mask ' +
    'pattern marker style filter feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting ' +
    'feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode ' +
    'feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile feTurbulence'
  ).split(' '),
);
const MOST_ELEMENTS = 50_000;
const MOST_DEPTH = 200;

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign] ?? '');

function withoutComments(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (let start = text.indexOf('/*'); start >= 0; start = text.indexOf('/*', at)) {
    const end = text.indexOf('*/', start + 2);
    if (end < 0) break;
    parts.push(text.slice(at, start));
    at = end + 2;
  }
  return parts.join('') + text.slice(at);
}

/** Removes addresses other than `#id`, and rules that load something. */
const safeCss = (text: string): string =>
  withoutComments(text.replace(/\\/g, '')) // an escape can spell any word
    .replace(/@(import|charset|namespace)[^;]*;?/gi, '')
    .replace(/@font-face\s*\{[^}]*\}?/gi, '')
    .replace(/url\(\s*(['"]?)(?!#)(?!['"])[^)]*\)?/gi, 'none')
    .replace(/image(-set)?\([^)]*\)?/gi, 'none');

function attribute(name: string, value: string): string {
  const bare = name.slice(name.indexOf(':') + 1).toLowerCase();
  if (bare.startsWith('on') || bare === 'base') return '';
  if (bare === 'href') return value.startsWith('#') ? ` ${name}="${escaped(value)}"` : '';
  return ` ${name}="${escaped(name.startsWith('xmlns') ? value : safeCss(value))}"`;
}

/**
 * The drawing without unsafe content. Throws when it is not well-formed XML, or too large; entities of its own count as
 * malformed.
 */
export function cleanSvg(text: string): string {
  const out: string[] = [];
  const parser = new SaxesParser();
  let depth = 0;
  let count = 0;
  let gone = 0; // depth inside a removed element
  let style = 0;
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    depth += 1;
    count += 1;
    if (count > MOST_ELEMENTS || depth > MOST_DEPTH) throw new Error('a drawing of too many parts');
    const bare = name.slice(name.indexOf(':') + 1);
    if (gone > 0 || !ELEMENTS.has(bare)) gone += 1;
    else {
      if (bare === 'style') style += 1;
      const given = Object.entries(attributes as Record<string, string>);
      out.push(`<${name}${given.map(([key, value]) => attribute(key, value)).join('')}>`);
    }
  });
  const words = (text: string): void => {
    if (gone === 0 && style > 0) out.push(escaped(safeCss(text)));
  };
  parser.on('text', words);
  parser.on('cdata', words);
  parser.on('closetag', ({ name }) => {
    depth -= 1;
    if (gone > 0) gone -= 1;
    else {
      if (name.endsWith('style')) style -= 1;
      out.push(`</${name}>`);
    }
  });
  parser.write(text).close();
  return out.join('');
}
