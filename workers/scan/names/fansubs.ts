import { tagsOf } from './tags.ts';

const LEADING_GROUP = /^[[【]([^[\]【】]{1,80})[\]】][\s._-]{0,4}/;
const OF_THE_MONTH = /[[【]?(?:\d{1,2}月新番|国漫)[\]】]?|[★☆]/g;
const COUNTED = /^\d{1,3}\s(?=\[)/;
const MAX_GROUPS = 12;

/** The name of a fansub group precedes the title; if everything is in brackets, the title is too. */
export function withoutGroup(name: string): string {
  const { groups, rest } = leadingGroups(name.replaceAll(OF_THE_MONTH, '').trim().replace(COUNTED, ''));
  if (groups.length === 0 || NUMBERS.test(groups[0] ?? '')) return name;
  const numbered = groups.slice(1).some((group) => NUMBER.test(group));
  return !numbered && isFree(rest) ? rest : (titleInGroups(groups, rest) ?? name);
}

function leadingGroups(name: string): { groups: string[]; rest: string } {
  const groups: string[] = [];
  let rest = name;
  for (let group = LEADING_GROUP.exec(rest); group && groups.length < MAX_GROUPS; group = LEADING_GROUP.exec(rest)) {
    groups.push(group[1] ?? '');
    rest = rest.slice(group[0].length);
  }
  return { groups, rest };
}

const HAN_ALONE = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\s\p{P}]{1,80}$/u;
const LATIN = /\p{Script=Latin}{2}/u;

/** A title in Han letters followed by one in Latin letters names the same show. */
function inLatin(groups: readonly string[], at: number): number {
  const next = groups[at + 1] ?? '';
  const both = at >= 0 && HAN_ALONE.test(groups[at] ?? '') && LATIN.test(next) && !isInfoGroup(next);
  return both ? at + 1 : at;
}

/** The first group that is neither the fansub's nor a release tag, or the one before the number. */
function titleInGroups(groups: readonly string[], rest: string): string | undefined {
  const [, second] = groups;
  if (second === undefined) return undefined;
  const at = NUMBER.test(second)
    ? 0
    : inLatin(
        groups,
        groups.findIndex((group, i) => i > 0 && !isInfoGroup(group)),
      );
  const behind = groups.slice(at + 1).map((group) => `[${group}]`);
  return at < 0 ? undefined : `${groups[at]} ${behind.join('')} ${rest}`;
}

const NUMBERS = /^(?:\d{1,4}|s?[1-9]\d?[.x-]?e?\d{1,3})$/i;
const NUMBER = /^\d{1,4}(?!\d|[pi]$)/i;

/** There are words outside the brackets, not only a number. */
function isFree(rest: string): boolean {
  const free = tagsOf(rest).filter(({ tokens, tag }) => !tokens[0]?.bracket && tag === undefined);
  return free.length > 1 || free.some(({ tokens }) => !/^\d+$/.test(tokens[0]?.low ?? ''));
}

function isInfoGroup(group: string): boolean {
  return tagsOf(group).every(({ tag, tokens }) => tag !== undefined || /^\d+$/.test(tokens[0]?.low ?? ''));
}
