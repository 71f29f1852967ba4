import {
  atPath,
  firstIds,
  knowCustomFields,
  listSummaries,
  rulesFor,
  type SmartList,
  type SmartRules,
  serverSorts,
  smartFaults,
  smartList,
} from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { type Issue, invalidAll } from '#kernel/errors.ts';
import {
  conditionsOf,
  MAX_CONDITIONS,
  MAX_LENGTH,
  printFilter,
  printRules,
  type RuleCondition,
  type RuleGroup,
  rawRules,
} from '#kernel/filter.ts';
import { EXACT } from '#kernel/page.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { readFacts } from '../collection/facts.ts';
import type { SmartPreview, SmartPreviewQuery } from '../collections.schemas.ts';

const A_MINUTE = 30;

/** What rules match, and the same rules in both forms. Throws 400 with paths into the rules, 429 after 30 in a minute. */
export async function previewRules(call: Call, query: SmartPreviewQuery): Promise<SmartPreview> {
  const { redis, config } = call.deps;
  await limitAttempts({ redis, replicas: config.replicas }, `smart-preview:${call.who.accountId}`, A_MINUTE);
  const rules = query.rules ?? (await rulesOf(call, query));
  await refuseFaulty(call, rules);
  const list = await smartList(call, rules);
  const place = query.rules ? ['body', 'rules', 'match'] : ['body', 'filter'];
  const { facts, ids } = await tried(call, { rules, list, sample: query.sample }).catch((error: unknown) => {
    throw atPath(error, place);
  });
  const filter = filterOf(list, rules);
  const isExact = facts.itemCount <= EXACT;
  return {
    ...{ count: facts.itemCount, countIsEstimate: !isExact },
    ...(isExact && { durationMs: facts.runtimeMs, sizeBytes: facts.sizeBytes }),
    items: await listSummaries(call.db, call.who, ids),
    rules,
    ...(filter !== undefined && { filter }),
    ignored: list.ignored.map(({ path, reason }) => ({ path: ['rules', ...path], reason })),
  };
}

async function rulesOf(call: Call, { filter = '', libraryIds = [] }: SmartPreviewQuery): Promise<SmartRules> {
  await knowCustomFields(call, { texts: [filter] });
  try {
    return { match: printRules(rulesFor(call, [], filter)), types: [], libraryIds, sort: 'title' };
  } catch (error) {
    throw atPath(error, ['body', 'filter']);
  }
}

/** Kept rules may name a custom field that was deleted, which is then in `ignored`; everything else is refused. */
async function refuseFaulty(call: Call, rules: SmartRules): Promise<void> {
  const issues = await smartFaults(call, rules, ['body', 'rules']);
  const refused = issues.filter((issue) => !isOfDeleted(rules.match, issue));
  if (refused.length > 0) throw invalidAll(refused);
}

function isOfDeleted(match: RuleGroup, { code, path }: Issue): boolean {
  if (code !== 'unknown_field') return false;
  const steps = path.slice(3); // after body, rules and match
  const found = steps.reduce<unknown>(
    (at, step) => (at as Record<string | number, unknown> | undefined)?.[step],
    match,
  );
  return (found as Partial<RuleCondition> | undefined)?.field?.startsWith('custom.') ?? false;
}

interface Trying {
  rules: SmartRules;
  list: SmartList;
  sample: number;
}

async function tried(call: Call, { rules, list, sample }: Trying) {
  const row = { id: '', kind: 'smart', rules, sort: null, updated_at: call.now } as const;
  const [facts, ids] = await Promise.all([
    readFacts(call, row),
    sample === 0
      ? []
      : firstIds(call, list.listing, {
          ...{ within: list.rules, fallback: list.sort, sorts: serverSorts, moreSorts: list.moreSorts, limit: sample },
        }),
  ]);
  return { facts, ids };
}

/** The conditions as a filter string; undefined when there is none that a list takes. */
function filterOf({ ignored }: SmartList, { match }: SmartRules): string | undefined {
  if (ignored.length > 0) return undefined;
  const rules = rawRules(match);
  const text = printFilter(rules);
  return text !== undefined && text.length <= MAX_LENGTH && conditionsOf(rules).length <= MAX_CONDITIONS
    ? text
    : undefined;
}
