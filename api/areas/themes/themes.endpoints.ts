import { bytes, type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { answerUnlessSame } from '#kernel/etag.ts';
import { limitHere } from '#kernel/rate-limit.ts';
import { addressGroup } from '#kernel/request.ts';
import { answerTheme, tokenList } from './answers.ts';
import { addTheme, changeTheme, deleteThemeRow, tryTheme } from './change-theme.ts';
import { chooseForProfile, chooseForServer, readSelected } from './choose.ts';
import { serveStylesheet } from './stylesheet/serve-stylesheet.ts';
import {
  Selected,
  SelectionChange,
  StylesheetParams,
  StylesheetQuery,
  Theme,
  ThemeChange,
  ThemeDraft,
  ThemeParams,
  ThemeQuery,
  Themes,
  ThemesQuery,
} from './themes.schemas.ts';
import { readSummaries } from './themes.view.ts';

const manages = { permission: 'settings:manage' } as const;
const because = 'the sign-in page is styled before anybody signed in; it holds colours and measures, and nothing else';
const PER_MINUTE = 600;
/** A theme that names every token has some 12 KiB. */
const THEME_BYTES = 65_536;

export const listThemes = defineEndpoint({
  operationId: 'listThemes',
  method: 'get',
  path: '/themes',
  summary: "List the themes, the caller's choice and the server's",
  access: { signedIn: true },
  query: ThemesQuery,
  answer: json(200, Themes),

  async handle({ query }, call) {
    const listed = { items: await readSummaries(call), ...(await readSelected(call)) };
    return answerUnlessSame(call, { ...listed, ...(query.tokens && { tokens: tokenList() }) });
  },
});

export const createTheme = defineEndpoint({
  operationId: 'createTheme',
  method: 'post',
  path: '/themes',
  summary: 'Create a theme; what getTheme answers is taken as it is',
  description:
    'Token sets may also be nested groups of value and type, as design-tokens files have them. With validateOnly the answer is 200 with the contrast: its id names nothing, and no name is taken.',
  access: manages,
  body: ThemeDraft,
  maxBodyBytes: THEME_BYTES,
  answer: json(201, Theme),
  also: [200],
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    if (body.validateOnly) {
      call.reply.status(200);
      return tryTheme(call, body);
    }
    return answerTheme(call, await addTheme(call, body));
  },
});

export const getTheme = defineEndpoint({
  operationId: 'getTheme',
  method: 'get',
  path: '/themes/:id',
  summary: 'Read a theme; created again elsewhere it is the same',
  access: { signedIn: true },
  params: ThemeParams,
  query: ThemeQuery,
  answer: json(200, Theme),

  async handle({ params, query }, call) {
    return answerTheme(call, params.id, query);
  },
});

export const updateTheme = defineEndpoint({
  operationId: 'updateTheme',
  method: 'patch',
  path: '/themes/:id',
  summary: 'Change a theme; token maps are merged, null takes a token back to the base',
  access: manages,
  params: ThemeParams,
  body: ThemeChange,
  maxBodyBytes: THEME_BYTES,
  answer: json(200, Theme),
  errors: ['CONFLICT'],
  emits: ['settings.changed'],

  async handle({ params, body }, call) {
    await changeTheme(call, params.id, body);
    return answerTheme(call, params.id);
  },
});

export const deleteTheme = defineEndpoint({
  operationId: 'deleteTheme',
  method: 'delete',
  path: '/themes/:id',
  summary: 'Delete a theme; what is based on it keeps its look',
  access: manages,
  params: ThemeParams,
  answer: none(),
  errors: ['CONFLICT'],

  async handle({ params }, call) {
    await deleteThemeRow(call, params.id);
  },
});

function limit({ client }: Call): void {
  limitHere(`themes:${addressGroup(client.address)}`, PER_MINUTE);
}

export const getThemeStylesheet = defineEndpoint({
  operationId: 'getThemeStylesheet',
  method: 'get',
  path: '/themes/:id/stylesheet',
  summary: 'A theme as CSS: custom properties for each of its schemes',
  description:
    "`default` is the server's. An id that names nothing answers the server's too. data-scheme of the root, or of anything below it, picks light or dark.",
  access: { anyone: true, because },
  beforeReady: true,
  params: StylesheetParams,
  query: StylesheetQuery,
  answer: bytes('text/css'),
  errors: ['RATE_LIMITED'],

  async handle({ params, query }, call) {
    limit(call);
    return serveStylesheet(call, params.id, query);
  },
});

export const setThemeSelection = defineEndpoint({
  operationId: 'setThemeSelection',
  method: 'put',
  path: '/themes/selection',
  summary: "Choose themes for the caller's profile, or for the server",
  access: { signedIn: true },
  body: SelectionChange,
  answer: json(200, Selected),
  errors: ['NOT_FOUND', 'CONFLICT'],
  emits: ['settings.changed'],

  async handle({ body }, call) {
    await (body.scope === 'server' ? chooseForServer(call, body) : chooseForProfile(call, body));
    return readSelected(call);
  },
});
