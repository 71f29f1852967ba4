import { readFileSync } from 'node:fs';
import { oneLine } from '../address.ts';

/** Content of a mail in plain text: no part is interpreted as a template or as HTML. */
export interface Content {
  language: string;
  server: string;
  subject: string;
  lines: readonly string[];
  sections: readonly { heading: string; items: readonly string[] }[];
  button?: { label: string; url: string };
  footer: string;
  unsubscribe?: { label: string; url: string };
}

/** Addresses of the main logo for light and dark: `cid:` in a mail, `data:` in a preview. */
export interface Logos {
  light: string;
  dark: string;
}

export interface Rendered {
  subject: string;
  html: string;
  text: string;
}

const frame = readFileSync(new URL('./mail.html', import.meta.url), 'utf8');
const PART = /<!--#(\w+)-->([\s\S]*?)<!--\/\1-->/g;

type Values = Readonly<Record<string, string>>;
/** A part is omitted, or repeated for each of its values, which may have nested parts. */
type Parts = Readonly<Record<string, readonly Filling[]>>;
interface Filling {
  values: Values;
  parts?: Parts;
}

const ESCAPES: Values = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? '');

/** Fills each text of the template once, so that a value that looks like a template stays text. */
function fill(template: string, { values, parts = {} }: Filling): string {
  const pieces = template.split(PART);
  let made = '';
  for (let at = 0; at < pieces.length; at += 3) {
    made += (pieces[at] ?? '').replace(/\{\{(\w+)\}\}/g, (_all, name: string) => escaped(values[name] ?? ''));
    const name = pieces[at + 1];
    if (name === undefined) continue;
    for (const filling of parts[name] ?? []) made += fill(pieces[at + 2] ?? '', inherit(values, filling));
  }
  return made;
}

const inherit = (values: Values, filling: Filling): Filling => ({
  ...filling,
  values: { ...values, ...filling.values },
});

export function render(content: Content, logos: Logos | undefined): Rendered {
  const { language, server, lines, sections, button, footer, unsubscribe } = content;
  const subject = oneLine(content.subject);
  const html = fill(frame, {
    values: { language, server, subject, heading: subject, footer, preview: lines[0] ?? sections[0]?.heading ?? '' },
    parts: {
      logo: logos ? [{ values: { ...logos } }] : [],
      line: lines.map((line) => ({ values: { line } })),
      section: sections.map(({ heading, items }) => ({
        values: { section: heading },
        parts: { item: items.map((item) => ({ values: { item } })) },
      })),
      button: button ? [{ values: { button: button.label, url: button.url } }] : [],
      unsubscribe: unsubscribe ? [{ values: { unsubscribe: unsubscribe.label, unsubscribeUrl: unsubscribe.url } }] : [],
    },
  });
  return { subject, html, text: plain(content, subject) };
}

function plain({ lines, sections, button, footer, unsubscribe }: Content, subject: string): string {
  const blocks = [
    subject,
    ...lines,
    ...sections.map(({ heading, items }) => [heading, ...items.map((item) => `- ${oneLine(item)}`)].join('\n')),
    ...(button ? [`${button.label}:\n${button.url}`] : []),
    `-- \n${footer}`,
    ...(unsubscribe ? [`${unsubscribe.label}:\n${unsubscribe.url}`] : []),
  ];
  return `${blocks.join('\n\n')}\n`;
}
