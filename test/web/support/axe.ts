import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(
  createRequire(new URL('../../../web/package.json', import.meta.url)).resolve('axe-core/axe.min.js'),
  'utf8',
);

interface Violation {
  id: string;
  nodes: { html: string }[];
}

/** The rules whose result depends on the theme. */
export const COLOURS = ['color-contrast', 'link-in-text-block'];
const ALL = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Violations of WCAG 2.2 A and AA, as one line each; the page scrolls in no direction but down. */
export async function violations(page: Page, tags: readonly string[] = ALL): Promise<string[]> {
  if (!(await page.evaluate('globalThis.axe'))) await page.evaluate(axe); // not by a script tag, which the policy forbids
  const found = await page.evaluate<Violation[]>(
    `axe.run(document, { runOnly: ${JSON.stringify(tags)} }).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })))`,
  );
  const wide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
  return [
    ...found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
    ...(wide ? ['scrolls sideways'] : []),
  ];
}
