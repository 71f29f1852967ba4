// Rules of the web app's sources.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'chai';

const source = new URL('../../web/src/', import.meta.url).pathname;

interface Source {
  /** Below web/src. */
  path: string;
  text: string;
  /** The part of a stylesheet, or of a component between its style tags. */
  css: string;
}

const sources: readonly Source[] = readdirSync(source, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.(ts|svelte|css|html)$/.test(entry.name))
  .map((entry) => {
    const text = readFileSync(join(entry.parentPath, entry.name), 'utf8');
    const css = entry.name.endsWith('.css') ? text : (text.split('<style>')[1]?.split('</style>')[0] ?? '');
    return { path: relative(source, join(entry.parentPath, entry.name)), text, css };
  });

const LAYERS = ['core', 'ui', 'features', 'routes'];
const layerOf = (path: string): number => LAYERS.indexOf(path.split('/')[0] ?? '');

/** Imports of a file within the app, as paths below web/src, and of packages by their names. */
function importsOf({ path, text }: Source): string[] {
  const names = [...text.matchAll(/^\s*(?:import|export)\b[^'\n]*'([^']+)'|\bimport\('([^']+)'\)/gm)];
  return names.map(([, name = '', later = '']) => {
    const specifier = name || later;
    return specifier.startsWith('.') ? join(path, '..', specifier) : specifier.replace(/^#/, '');
  });
}

/** Files with what a rule forbids in them; an empty list is what every test expects. */
const offenders = (of: (one: Source) => string | undefined): string[] =>
  sources.flatMap((one) => {
    const found = of(one);
    return found === undefined ? [] : [`${one.path}: ${found}`];
  });

const match = (text: string, pattern: RegExp): string | undefined => pattern.exec(text)?.[0];

describe('the web app', () => {
  it('imports one way: routes → features → ui → core', () => {
    expect(
      offenders((one) => importsOf(one).find((name) => layerOf(one.path) >= 0 && layerOf(name) > layerOf(one.path))),
    ).to.deep.equal([]);
    expect(new Set(sources.map(({ path }) => layerOf(path))).size, 'every layer has files').to.be.greaterThan(
      LAYERS.length - 1,
    );
  });

  it('has no Svelte in core', () => {
    expect(
      offenders((one) =>
        layerOf(one.path) === 0
          ? (match(one.path, /\.svelte/) ??
            importsOf(one).find((name) => /^svelte|svelte-query|^\$app|^messages\//.test(name)))
          : undefined,
      ),
    ).to.deep.equal([]);
  });

  it('sends requests in core/api alone, and two in the shell, whose answers core/api takes', () => {
    const forbidden = /\bfetch\(|XMLHttpRequest|new EventSource|sendBeacon/;
    expect(
      offenders(({ path, text }) => (path.startsWith('core/api/') ? undefined : match(text, forbidden))),
    ).to.deep.equal(['app.html: fetch(']);
  });

  it('takes colours from tokens alone', () => {
    const colour = /#[0-9a-f]{3,8}\b(?=[;\s,)])|\b(?:rgba?|hsla?|oklch|color)\(|:\s*(?:white|black|red|gr[ae]y)\b/i;
    expect(offenders(({ css }) => match(css, colour))).to.deep.equal([]);
  });

  it('has no physical left and right, so that it turns with the writing', () => {
    const physical =
      /(?:^|[\s;{])(?:(?:margin|padding|border|inset)-(?:left|right)\b[\w-]*|left|right)\s*:|text-align:\s*(?:left|right)|float:\s*(?:left|right)/;
    expect(offenders(({ css }) => match(css, physical))).to.deep.equal([]);
  });

  it('never hides the focus, and writes no style into markup', () => {
    expect(offenders(({ css }) => match(css, /outline:\s*(?:none|0)\b/))).to.deep.equal([]);
    expect(
      offenders(({ path, text }) => (path.endsWith('.svelte') ? match(text, /\sstyle=["{]/) : undefined)),
    ).to.deep.equal([]);
  });

  it('has no file over 300 lines, and no text as markup', () => {
    expect(offenders(({ text }) => (text.split('\n').length > 301 ? 'too long' : undefined))).to.deep.equal([]);
    expect(
      offenders(({ text }) => match(text, /\{@html|\.innerHTML|insertAdjacentHTML|\bconsole\.|\b(?:TODO|FIXME|XXX)\b/)),
    ).to.deep.equal([]);
  });

  it('names no other host', () => {
    expect(
      offenders(({ text }) => match(text.replaceAll('http://www.w3.org/', ''), /https?:\/\/\w[^'"\s]*/)),
    ).to.deep.equal([]);
  });
});
