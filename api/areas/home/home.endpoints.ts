import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { page } from '#kernel/page.ts';
import { changeHidden } from './hidden/hide.ts';
import { Home, HomeCard, HomeQuery, HomeRowHead, RowParams, RowQuery } from './home.schemas.ts';
import { composeHome } from './home.ts';
import {
  HideAnswer,
  HideChange,
  HomeLayout,
  LayoutAnswer,
  LayoutChange,
  LayoutQuery,
} from './layout/layout.schemas.ts';
import { readLayout } from './layout/read-layout.ts';
import { setLayout } from './layout/set-layout.ts';
import { pageOfRow } from './row-page.ts';

const views = { permission: 'library:view' } as const;

export const getHome = defineEndpoint({
  operationId: 'getHome',
  method: 'get',
  path: '/home',
  summary: 'Read the home screen',
  description:
    'All rows of the layout in force for the profile, without empty ones. A row that takes longer than 60 ms is `deferred`, without cards: read it with getHomeRow. The answer carries an ETag.',
  access: views,
  query: HomeQuery,
  answer: json(200, Home),

  async handle({ query }, call) {
    const home = await composeHome(call, query);
    const { generatedAt: _time, ...content } = home;
    answerUnlessSame(call, content);
    return home;
  },
});

export const getHomeRow = defineEndpoint({
  operationId: 'getHomeRow',
  method: 'get',
  path: '/home/rows/:rowId',
  summary: 'Read a row of the home screen',
  description:
    'At most 500 cards in the order of the row, which the cursors keep for 10 minutes. A row that is not in the layout in force is 404.',
  access: views,
  params: RowParams,
  query: RowQuery,
  answer: page(HomeCard, { row: HomeRowHead }),
  errors: ['NOT_FOUND'],

  async handle({ params, query }, call) {
    return pageOfRow(call, params.rowId, query);
  },
});

export const hideFromHome = defineEndpoint({
  operationId: 'hideFromHome',
  method: 'put',
  path: '/home/hidden',
  summary: 'Hide a card from the home screen',
  description:
    'Hides what a card stands for (a film, the show of an episode, a book) from one row or from all, until it is played again, for ever, or until a time; progress and marks stay. Rows to continue with share their hidden cards. At most 2,000 cards a profile are hidden; the oldest return. The request is idempotent.',
  access: views,
  body: HideChange,
  answer: json(200, HideAnswer),
  errors: ['NOT_FOUND', 'FORBIDDEN'],

  async handle({ body }, call) {
    return changeHidden(call, body);
  },
});

export const getHomeLayout = defineEndpoint({
  operationId: 'getHomeLayout',
  method: 'get',
  path: '/home/layout',
  summary: 'Read the layout of the home screen',
  description:
    'The layout in force with its source, the kinds of rows that can be added, and the cards that the profile hid. Scope server needs `settings:manage`.',
  access: views,
  query: LayoutQuery,
  answer: json(200, LayoutAnswer),
  errors: ['FORBIDDEN'],

  async handle({ query }, call) {
    return readLayout(call, query);
  },
});

export const setHomeLayout = defineEndpoint({
  operationId: 'setHomeLayout',
  method: 'put',
  path: '/home/layout',
  summary: 'Replace the layout of the home screen',
  description:
    "Stores the layout of the caller's profile, or with scope server (needs `settings:manage`) that of profiles without their own; `rows` null removes it. Libraries that the caller cannot see are 404. A 409 reports `revision` or `managed-by-resource`; an account with the restriction `homeLayout` is refused with 403.",
  access: views,
  body: LayoutChange,
  answer: json(200, HomeLayout),
  errors: ['CONFLICT', 'NOT_FOUND', 'FORBIDDEN'],
  emits: ['settings.changed'],

  async handle({ body }, call) {
    return setLayout(call, body);
  },
});
