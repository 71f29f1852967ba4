import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { identifiers, words } from './words.ts';

const root = new URL('../../', import.meta.url).pathname;

/** Folders and files that keep the rule, relative to the root. */
const kept: readonly string[] = [
  'README.md',
  'api',
  'crds',
  'docs',
  'hack',
  'manifests',
  'operator',
  'test',
  'web',
  'workers',
];

/** Names that the contract, a library or a stored format gives. */
const given =
  /\b(lastSeenAt|firstSeenAt|last_seen_at|first_seen_at|tell_rights\w*|rights_told\w*|jobs_tell_cancelled|(?:draft\.)?wish(?=\??: (?:SessionOptions|JSON|stored|\{ quality)| \?\? \{\})|\w*[tT]ask\w*|\w*[mM]ask\w*|basket\w*|f\.away|away(?=: !?unavailable)|asked(?=: false,$)|askStillWatchingAfter)\b|\bsays:\s+['"`].*|^const (?:SELF|GIVE) = .*|"beside"|- beside$/gm;

function filesIn(path: string): string[] {
  const whole = join(root, path);
  if (!existsSync(whole)) throw new Error(`${path} is not there`);
  if (!statSync(whole).isDirectory()) return [path];
  return readdirSync(whole, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter(
      (name) =>
        /\.(ts|svelte|css|html|md|yaml)$/.test(name) &&
        !/(^|\/)(node_modules|build|\.svelte-kit|\.messages|migrations|golden|contract\/areas|client\/areas)\/|platform\/tables\.ts$|architecture\/words/.test(
          name,
        ),
    );
}

const comment = /(?:^|\s)\/\/.*|^\s*\/?\*.*/g;

/** The comments of a line, and the texts of at least two words. */
const prose = (line: string): string[] => [
  ...[...line.matchAll(comment)].map(([text]) => text).filter((text) => !/\/\/\s*(?:biome|oxlint)-/.test(text)),
  ...[...line.replace(comment, '').matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)]
    .map(([, single, double, template]) => single ?? double ?? (template ?? '').replace(/\$\{[^}]*\}/g, ''))
    .filter((text) => /\s/.test(text)),
];

function faults(file: string): string[] {
  const found: string[] = [];
  const source = /\.(ts|svelte|css)$/.test(file);
  const lines = readFileSync(join(root, file), 'utf8').replace(given, '_').split('\n');
  for (const [at, line] of lines.entries()) {
    const texts = source ? prose(line) : [line];
    for (const [word, instead] of words) {
      const hit = texts.map((text) => word.exec(text)?.[0]).find((text) => text !== undefined);
      if (hit) found.push(`${file}:${at + 1} "${hit}": ${instead}`);
    }
    const code = line.replace(/\/\/.*|^\s*\/?\*.*|'(?:[^'\\]|\\.)*'|`[^`]*`/g, '');
    const name = source ? identifiers.exec(code)?.[0] : undefined;
    if (name) found.push(`${file}:${at + 1} the name ${name}`);
  }
  return found;
}

describe('plain English', () => {
  for (const path of kept) {
    it(`in ${path}`, () => {
      expect(filesIn(path).flatMap(faults).join('\n')).to.equal('');
    });
  }
});
