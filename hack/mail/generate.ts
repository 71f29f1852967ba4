import { readFileSync } from 'node:fs';
import compile from 'mjml';

const SOURCE = new URL('./mail.mjml', import.meta.url);

/** The frame of every mail as HTML that mail programs take; its parts lie between `<!--#name-->` and `<!--/name-->`. */
export async function mailFiles(): Promise<Record<string, string>> {
  const options = { fonts: {}, validationLevel: 'strict', keepComments: true, minify: false } as const;
  const { html } = await compile(readFileSync(SOURCE, 'utf8'), options);
  const lines = html.split('\n').map((line) => line.trimEnd());
  return { 'api/areas/email/content/mail.html': `${lines.filter((line) => line !== '').join('\n')}\n` };
}
