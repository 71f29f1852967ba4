// The bytes of script that each route adds to those of the first load, as they are sent, by the files of the build.
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { BUILD } from '../../api/web/files.ts';

const KB = 1024;
/**
 * Most bytes of a route by the beginning of its name; the first one that fits counts. The player loads hls.js when it has a
 * stream: player-axe.slow.test.ts measures both.
 */
const LIMITS: readonly (readonly [string, number])[] = [
  ['/(play)/', 60 * KB],
  ['/(app)/admin/', 60 * KB],
  ['/', 40 * KB],
];
const APP = /^app\..*\.js$/;
const IMPORT = /(?:from|^import|;import)"([^"]+)"/g;
/** A route in the list of the app, with its own part and the layouts around it. */
const ROUTE = /"(\/[^"]*)":\[(\d+)(?:,\[([\d,]*)\])?/g;
const SCRIPTS = '/_app/immutable';

/** A script and all that it imports at once. */
function importsOf(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  for (const [, next = ''] of readFileSync(join(BUILD, path), 'utf8').matchAll(IMPORT))
    importsOf(new URL(next, `http://build${path}`).pathname, found);
  return found;
}

const sent = (path: string): number => {
  const packed = join(BUILD, `${path}.br`);
  return statSync(existsSync(packed) ? packed : join(BUILD, path)).size;
};

describe('the script of each route', () => {
  it('is within its limit', () => {
    const entry = readdirSync(join(BUILD, SCRIPTS, 'entry')).find((name) => APP.test(name));
    const app = `${SCRIPTS}/entry/${entry}`;
    const [first, nodes] = [importsOf(app), readdirSync(join(BUILD, SCRIPTS, 'nodes'))];
    const fileOf = (node: string): string =>
      `${SCRIPTS}/nodes/${nodes.find((name) => name.startsWith(`${node}.`) && name.endsWith('.js'))}`;
    const bytes = new Map<string, number>();
    for (const [, route = '', own = '', layouts = ''] of readFileSync(join(BUILD, app), 'utf8').matchAll(ROUTE)) {
      const files = new Set(
        [own, ...layouts.split(',').filter(Boolean)].flatMap((node) => [...importsOf(fileOf(node))]),
      );
      bytes.set(
        route,
        [...files].filter((path) => !first.has(path)).reduce((sum, path) => sum + sent(path), 0),
      );
    }
    const pages = globSync('**/+page.{svelte,ts}', { cwd: join(import.meta.dirname, '../../web/src/routes') });
    const routes = new Set(pages.map((file) => `/${file.replace(/\/?\+page\.\w+$/, '')}`));
    expect([...bytes.keys()].sort()).to.deep.equal([...routes].sort());
    const tooLarge = [...bytes].filter(
      ([route, size]) => size > (LIMITS.find(([start]) => route.startsWith(start))?.[1] ?? 0),
    );
    expect(tooLarge).to.deep.equal([]);
    if (process.env.TIMES)
      for (const [route, size] of [...bytes].sort(([, one], [, other]) => other - one))
        console.log(`    ${route}: ${size}`);
  });
});
