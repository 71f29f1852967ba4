import { requireAllowed } from '#identity/restrictions.ts';
import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { changeRule, createRuleOf, deleteRule } from './change-rules.ts';
import { RecordingRule, RuleChange, RuleDetail, RuleDraft, RuleMade, RulesQuery, ruleSorts } from './rules.schemas.ts';
import { getRuleRow, type RuleRow, visibleRules } from './rules.store.ts';
import { detailOf, toRules } from './rules.view.ts';

const views = { permission: 'library:view' } as const;
const records = { permission: 'download:own' } as const;

export const listRecordingRules = defineEndpoint({
  operationId: 'listRecordingRules',
  method: 'get',
  path: '/live/rules',
  summary: 'List recording rules',
  description: "The caller's own, and those of others that are for every channel or for visible channels alone.",
  access: views,
  query: RulesQuery,
  answer: page(RecordingRule),
  errors: ['FORBIDDEN'],

  async handle({ query }, call) {
    requireAllowed(call.who, 'liveTv');
    const { db, who, deps } = call;
    const rows = visibleRules(db, who);
    if (query.mine) rows.where('u.account_id', who.accountId);
    const found = await pageOf<RuleRow, RuleRow>(db, rows, {
      ...{ keys: deps.keys, cursor: query.cursor, limit: query.limit, idColumn: 'u.id', toItem: (row) => row },
      terms: parseSort(query.sort, ruleSorts, '-priority'),
      scope: JSON.stringify(['listRecordingRules', who.profileId, query.mine]),
    });
    return { items: await toRules(call, found.items), page: found.page };
  },
});

export const createRecordingRule = defineEndpoint({
  operationId: 'createRecordingRule',
  method: 'post',
  path: '/live/rules',
  summary: 'Create a recording rule',
  description:
    'Plans the next 14 days at once. One episode is taken once: its first airing that gets a slot. With `dryRun` nothing is saved, and the answer is 200 with the recordings and the conflicts that the rule would make. A match without title, series or category is 400 `too_wide`. 409 reasons are `rule-limit` beyond 100 rules of an account, and `disk-full` and `no-folder` as for createRecording.',
  access: records,
  body: RuleDraft,
  answer: json(201, RuleMade),
  also: [200],
  errors: ['CONFLICT', 'FORBIDDEN', 'NOT_FOUND'],
  plus: 'dvr',

  async handle({ body }, call) {
    requireAllowed(call.who, 'liveTv');
    requireAllowed(call.who, 'record');
    if (body.dryRun) call.reply.status(200);
    return createRuleOf(call, body);
  },
});

export const getRecordingRule = defineEndpoint({
  operationId: 'getRecordingRule',
  method: 'get',
  path: '/live/rules/:id',
  summary: 'Read a recording rule',
  description: '`upcoming` holds at most 50 recordings; listRecordings with the filter rule has all.',
  access: views,
  params: IdParams,
  answer: json(200, RuleDetail),
  errors: ['FORBIDDEN'],

  async handle({ params }, call) {
    requireAllowed(call.who, 'liveTv');
    return detailOf(call, await getRuleRow(call, params.id));
  },
});

export const updateRecordingRule = defineEndpoint({
  operationId: 'updateRecordingRule',
  method: 'patch',
  path: '/live/rules/:id',
  summary: 'Change a recording rule',
  description:
    'For its owner, or with `library:manage`. Planned recordings are made again from the rule; those that a person changed and a running one keep their values. Switched off, its planned recordings are removed. With `dryRun` nothing is saved. While the licence has lapsed, the rule is saved and its planned recordings stay as they are. 409 reasons are `no-owner` when a rule whose account is gone is switched on without a new owner, and `rule-limit` when the new owner has 100 rules.',
  access: records,
  params: IdParams,
  body: RuleChange,
  answer: json(200, RuleMade),
  errors: ['CONFLICT', 'FORBIDDEN'],
  emits: ['notification.created'],

  async handle({ params, body }, call) {
    requireAllowed(call.who, 'liveTv');
    return changeRule(call, params.id, body);
  },
});

export const deleteRecordingRule = defineEndpoint({
  operationId: 'deleteRecordingRule',
  method: 'delete',
  path: '/live/rules/:id',
  summary: 'Delete a recording rule',
  description:
    'For its owner, or with `library:manage`. Planned recordings go, a running one ends as planned, finished ones stay.',
  access: records,
  params: IdParams,
  answer: none(),
  errors: ['FORBIDDEN'],

  async handle({ params }, call) {
    await deleteRule(call, params.id);
  },
});
