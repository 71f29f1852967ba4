// Typed functions from messages/<tag>/<feature>.json, written to .messages/: one module a feature, one chunk a language, and
// one more for the texts that Home never shows.
//   node web/vite/messages.ts   writes them; vite does so too, at its start and when a file changes
// A text may hold {names}; a text with plural forms has the shape of api/platform/languages.ts and the parameter `count`.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { firstTexts } from './first-page.ts';

const FALLBACK = 'en';
/** The texts of src/ui, whose parts wait for pages. */
const KIT = 'ui';
const FORMS = ['one', 'two', 'few', 'many', 'other'];

type Text = string | Record<string, string>;
type Feature = Record<string, Text>;

const listed = (folder: string): string[] => readdirSync(folder).sort();

function featuresOf(folder: string): Map<string, Feature> {
  const names = listed(folder).filter((name) => name.endsWith('.json'));
  return new Map(
    names.map((name) => [basename(name, '.json'), JSON.parse(readFileSync(join(folder, name), 'utf8')) as Feature]),
  );
}

/** The names in a text, sorted; `count` is a number. */
function parametersOf(text: Text): string[] {
  const texts = typeof text === 'string' ? [text] : Object.values(text);
  const names = texts.flatMap((one) => [...one.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''));
  return [...new Set([...names, ...(typeof text === 'string' ? [] : ['count'])])].sort();
}

function check(place: string, text: Text): void {
  if (typeof text === 'string') return;
  const unknown = Object.keys(text).filter((form) => !FORMS.includes(form));
  if (unknown.length > 0 || !('other' in text)) throw new Error(`${place}: plural forms are ${FORMS.join(', ')}`);
}

function functionOf(feature: string, [key, text]: [string, Text]): string {
  const names = parametersOf(text);
  const name = `'${feature}.${key}'`;
  if (names.length === 0) return `export const ${key} = (): string => text(${name});`;
  const type = names.map((one) => `${one}: ${one === 'count' ? 'number' : 'string | number'}`).join('; ');
  return `export const ${key} = (values: { ${type} }): string => text(${name}, values);`;
}

/** Every text of a language must be one of English with the same names; English stands in for what a language lacks. */
function tableOf(tag: string, english: Map<string, Feature>, own: Map<string, Feature>): Record<string, Text> {
  const table: Record<string, Text> = {};
  for (const [feature, texts] of own)
    for (const [key, text] of Object.entries(texts)) {
      const place = `messages/${tag}/${feature}.json: ${key}`;
      const source = english.get(feature)?.[key];
      if (source === undefined) throw new Error(`${place} is not in English`);
      if (parametersOf(source).join() !== parametersOf(text).join()) throw new Error(`${place} has other parameters`);
      check(place, text);
      table[`${feature}.${key}`] = text;
    }
  return table;
}

const NOTE = '// Made by vite/messages.ts.\n';

export function writeMessages(web: string): void {
  const [from, to] = [join(web, 'messages'), join(web, '.messages')];
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  const english = featuresOf(join(from, FALLBACK));
  for (const [feature, texts] of english) {
    const functions = Object.entries(texts).map((entry) => functionOf(feature, entry));
    const lines = [`import { text } from '#core/messages/text.ts';`, '', ...functions, ''];
    writeFileSync(join(to, `${feature}.ts`), NOTE + lines.join('\n'));
  }
  const first = firstTexts(web);
  const tags = listed(from);
  for (const tag of tags) {
    const table = { ...tableOf(FALLBACK, english, english), ...tableOf(tag, english, featuresOf(join(from, tag))) };
    const { own = [], later = [] } = Object.groupBy(Object.entries(table), ([key]) =>
      first.has(key.split('.')[0] ?? '') ? 'own' : 'later',
    );
    writeTable(join(to, `table-${tag}.ts`), own);
    writeTable(join(to, `later-${tag}.ts`), later);
  }
  const loaders = (kind: string): string =>
    tags.map((tag) => `  '${tag}': () => import('./${kind}-${tag}.ts'),\n`).join('');
  writeFileSync(join(to, 'languages.ts'), `${NOTE}export const languages = {\n${loaders('table')}};\n`);
  writeFileSync(join(to, 'later.ts'), `${NOTE}export const later = {\n${loaders('later')}};\n`);
}

const writeTable = (path: string, texts: readonly [string, Text][]): void =>
  writeFileSync(path, `${NOTE}export const table = ${JSON.stringify(Object.fromEntries(texts))};\n`);

/** Fails on a text that no page uses; `used` has the functions that are left in the build, as `feature.key`. */
function requireAllUsed(web: string, used: ReadonlySet<string>): void {
  const english = featuresOf(join(web, 'messages', FALLBACK));
  english.delete(KIT);
  const all = [...english].flatMap(([feature, texts]) => Object.keys(texts).map((key) => `${feature}.${key}`));
  const rest = all.filter((name) => !used.has(name));
  if (rest.length > 0) throw new Error(`no page uses these texts of messages/en: ${rest.join(', ')}`);
}

export function messages(web: string): Plugin {
  return {
    name: 'foyer-messages',
    config() {
      writeMessages(web);
    },
    configureServer(server) {
      server.watcher.add(join(web, 'messages'));
      server.watcher.on('change', (path) => path.startsWith(join(web, 'messages')) && writeMessages(web));
    },
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        if (this.environment.name !== 'client') return;
        const modules = Object.values(bundle).flatMap((part) =>
          part.type === 'chunk' ? Object.entries(part.modules) : [],
        );
        const used = modules.flatMap(([id, { renderedExports }]) => {
          const [, feature] = /\/\.messages\/([\w-]+)\.ts$/.exec(id) ?? [];
          return feature ? renderedExports.map((key) => `${feature}.${key}`) : [];
        });
        requireAllUsed(web, new Set(used));
      },
    },
  };
}

if (import.meta.main) writeMessages(resolve(import.meta.dirname, '..'));
