// A type as it would be, of a request and what stands; every fault is found at once.
import { itemFieldNames, sortNames } from '#areas/items/public.ts';
import { type Issue, invalidAll } from '#kernel/errors.ts';
import { extensionsOf } from '#platform/media-extensions.ts';
import type { OwnLevel } from '#platform/own-types.ts';
import type { Base } from './bases.ts';
import { matchLevels } from './levels.ts';
import type { NamingRule, TypeLevel, TypeViews } from './library-types.schemas.ts';
import type { TypeRules } from './library-types.store.ts';
import { parsePattern } from './naming/pattern.ts';
import { fitsSample } from './naming/rules.ts';

const BYTES = 65_536;

type Given = { [K in keyof TypeRules]?: TypeRules[K] | undefined };

/** The rules with those of the request in place. */
export function mergeRules(before: TypeRules, given: Given): TypeRules {
  const { levels, files, naming, agents, fieldKeys, analyses, views } = given;
  return {
    levels: levels ?? before.levels,
    files: files ?? before.files,
    naming: naming ?? before.naming,
    agents: agents ?? before.agents,
    fieldKeys: fieldKeys ?? before.fieldKeys,
    analyses: analyses ?? before.analyses,
    views: views ?? before.views,
  };
}

/** Throws one 400 with every fault of the rules; returns the levels as libraries keep them. */
export function checkRules(base: Base, rules: TypeRules): OwnLevel[] {
  const { own, issues } = levelIssues(base, rules.levels);
  issues.push(...extensionIssues(base, rules.files.extensions));
  issues.push(...rules.naming.flatMap((rule, i) => namingIssues(base, rule, i)), ...viewIssues(rules.views));
  if (Buffer.byteLength(JSON.stringify(rules)) > BYTES)
    issues.push({ path: ['body'], code: 'too_big', message: 'a type has at most 64 KiB' });
  if (issues.length > 0) throw invalidAll(issues);
  return own;
}

function levelIssues(base: Base, levels: readonly TypeLevel[]): { own: OwnLevel[]; issues: Issue[] } {
  const { own, faults } = matchLevels(base, levels);
  const issues = faults.map(({ level, message }): Issue => {
    return { path: ['body', 'levels', ...(level === undefined ? [] : [level])], code: 'role_base', message };
  });
  const names = levels.map(({ itemType }) => itemType);
  if (new Set(names).size < names.length)
    issues.push({ path: ['body', 'levels'], code: 'duplicate', message: 'each level has an item type of its own' });
  return { own, issues };
}

function extensionIssues(base: Base, extensions: readonly string[]): Issue[] {
  if (base === 'files') return [];
  const known = extensionsOf(base);
  return extensions.flatMap((extension, i) => {
    if (known.has(extension)) return [];
    const message = `files of this extension are not read in types of base ${base}`;
    return [{ path: ['body', 'files', 'extensions', i], code: 'unknown_extension', message }];
  });
}

function namingIssues(base: Base, rule: NamingRule, at: number): Issue[] {
  const { faults } = parsePattern(rule.pattern);
  if (faults.length > 0)
    return faults.map(({ code, message }) => ({ path: ['body', 'naming', at, 'pattern'], code, message }));
  if (fitsSample(rule, extensionsOf(base))) return [];
  const message = 'the sample does not fit the pattern';
  return [{ path: ['body', 'naming', at, 'sample'], code: 'sample_mismatch', message }];
}

const isField = (name: string): boolean => itemFieldNames.includes(name) || /^custom\.[a-z0-9_]{1,40}$/.test(name);
const isSort = (name: string): boolean =>
  (sortNames as readonly string[]).includes(name) || /^custom\.[a-z0-9_]{1,40}$/.test(name);

function viewIssues({ defaultSort, sorts, groupBy, columns }: TypeViews): Issue[] {
  const at = (name: string, isKnown: boolean, ...more: (string | number)[]): Issue[] =>
    isKnown ? [] : [{ path: ['body', 'views', ...more], code: 'unknown_field', message: `there is no ${name}` }];
  return [
    ...at(`sort ${defaultSort}`, isSort(defaultSort.replace(/^-/, '')), 'defaultSort'),
    ...sorts.flatMap((sort, i) => at(`sort ${sort}`, isSort(sort), 'sorts', i)),
    ...(groupBy === undefined ? [] : at(`field ${groupBy}`, isField(groupBy), 'groupBy')),
    ...columns.flatMap((column, i) => at(`field ${column}`, isField(column), 'columns', i)),
  ];
}
