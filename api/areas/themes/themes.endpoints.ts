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
const because = 'the sign-in page is styled before anyone signs in; it contains only colours and measures';
const PER_MINUTE = 600;
/** A theme that sets every token has about 12 KiB. */
const THEME_BYTES = 65_536;

export const listThemes = defineEndpoint({
  operationId: 'listThemes',
  method: 'get',
  path: '/themes',
  summary: 'List themes with the current selection',
  description:
    "Returns every theme without its tokens, built-in themes first and then by name, together with the caller's selection and the server's default. With `tokens` the answer also lists every design token, from which a theme editor can build its form. The answer carries an ETag.",
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
  summary: 'Create a theme',
  description:
    'Accepts the document that getTheme returns (ids and versions are ignored), so a theme is exported by reading it and imported by creating it. Token sets may also be nested groups of value and type, as design-tokens files have them. With `validateOnly` the theme is checked but not stored: the answer is 200 with the contrast report, and its id refers to no theme. A 400 lists every invalid token with its path; a 409 reports `duplicate-name` or `too-many`.',
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
  summary: 'Get a theme',
  description:
    'Returns the tokens that the theme sets itself. With `resolved` every token is filled in from the chain of base themes. The answer carries an ETag.',
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
  summary: 'Update a theme',
  description:
    "Token maps are merged into the stored ones; null resets a token to its base, and null for a scheme removes it, but one scheme must stay. Themes based on this one are validated too. A 409 reports `revision`, `built-in`, `managed-by-resource`, `duplicate-name`, or `contrast` when the server's default would have an unreadable colour pair.",
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
  summary: 'Delete a theme',
  description:
    "Profiles that selected the theme follow the server's default afterwards. Themes based on it keep their look, because its values are copied into them. A 409 reports `server-default`, `built-in` or `managed-by-resource`.",
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
  summary: 'Get a theme as a CSS stylesheet',
  description:
    "Returns one rule of custom properties for each scheme; the attribute `data-scheme` on the root element, or on any element below it, selects light or dark. The id `default` stands for the server's default, and an unknown id returns that stylesheet too. With the current version in `v` the answer is immutable for a year; otherwise it must be revalidated by its ETag.",
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
  summary: 'Select themes for a profile or the server',
  description:
    "By default the selection is stored for the caller's profile and follows it to every device. Scope `server` sets the default for everyone, requires `settings:manage`, and is refused with 409 `contrast` unless every colour pair is readable. While the server does not allow profiles to choose, selecting a theme for a profile is a 403; mode, text size, motion and contrast may still be changed.",
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
