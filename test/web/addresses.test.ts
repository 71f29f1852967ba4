// Addresses in notifications and mails: each opens a page of the app.
import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const ROUTES = 'web/src/routes/';

/** A route such as `(app)/item/[id]` as an expression for the path. */
function routePattern(file: string): RegExp {
  const parts = file.slice(ROUTES.length).split('/').slice(0, -1);
  const path = parts
    .filter((part) => !part.startsWith('('))
    .map((part) => (part.startsWith('[...') ? '(?:/.+)?' : part.startsWith('[') ? '/[^/]+' : `/${part}`))
    .join('');
  return new RegExp(`^${path || '/'}$`);
}

const pages = globSync(`${ROUTES}**/+page.{svelte,ts}`).map(routePattern);

/** Paths of the app that the server writes as `url` or as a page; `${…}` is some id. */
function writtenPaths(): string[] {
  const files = globSync(['api/areas/**/*.ts', 'workers/**/*.ts']);
  const texts = files.map((file) => readFileSync(file, 'utf8')).join('\n');
  const found = texts.matchAll(/(?:\burl: |\burl = |\bseeAll: \(\) => |\bPAGE = )['`](\/(?!api\/)[^'`]*)['`]/g);
  return [...found].map(([, path = '']) => path.replaceAll(/\$\{[^}]*\}/g, 'x').replace(/[?#].*$/, ''));
}

describe('addresses that the server writes', () => {
  it('each opens a page of the app', () => {
    const paths = writtenPaths();
    expect(paths.length).to.be.greaterThan(20);
    expect(paths.filter((path) => !pages.some((page) => page.test(path)))).to.deep.equal([]);
  });
});
