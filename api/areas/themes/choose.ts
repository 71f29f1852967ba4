import { isDeepStrictEqual } from 'node:util';
import { emitState } from '#areas/playback/public.ts';
import { requirePermission } from '#identity/principal.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid, notFound } from '#kernel/errors.ts';
import { refuseContrast } from './change-theme.ts';
import { announce } from './memory.ts';
import {
  defaultIds,
  findSelection,
  readServerChoice,
  type ServerChoice,
  selectionInForce,
  toServerTheme,
  writeSelection,
  writeServerChoice,
} from './selection.store.ts';
import { compiledOf } from './stylesheet/compiled.ts';
import type { Selected, SelectionChange, ThemeSelection } from './themes.schemas.ts';
import { holdThemes, lockThemes } from './themes.store.ts';
import { chainIn } from './themes.view.ts';

const themesIn = ({ themeId, lightThemeId, darkThemeId }: ThemeSelection): string[] =>
  [themeId, lightThemeId, darkThemeId].filter((id) => id !== null);

/** The caller's selection in force, and the server's default. */
export async function readSelected({ db, who }: Pick<Call, 'db' | 'who'>): Promise<Selected> {
  const server = await readServerChoice(db);
  const own = await findSelection(db, who.profileId);
  return { selection: selectionInForce(own, server), serverDefault: toServerTheme(server) };
}

/**
 * Stores the selection of the caller's profile. While profiles may not choose themes, it keeps the themes selected
 * before.
 */
export async function chooseForProfile(call: Call, { selection, allowChoice }: SelectionChange): Promise<void> {
  const { db, who } = call;
  if (allowChoice !== undefined) throw invalid(['body', 'allowChoice'], 'exclusive', 'only with scope server');
  const server = await readServerChoice(db);
  const ids = themesIn(selection);
  if (!server.allowChoice && ids.length > 0)
    throw new ApiError('FORBIDDEN', 'Profiles choose no themes on this server', { by: 'allow-choice' });
  if (!(await holdThemes(db, ids))) throw notFound();
  const before = server.allowChoice ? undefined : await findSelection(db, who.profileId);
  const kept = before && {
    themeId: before.themeId,
    lightThemeId: before.lightThemeId,
    darkThemeId: before.darkThemeId,
  };
  await writeSelection(db, who.profileId, { ...selection, ...kept });
  await emitState(call, { what: ['preferences'], itemIds: [] });
}

/** Sets the server's default. Throws 403, 404, 409 `contrast`. */
export async function chooseForServer(call: Call, { selection, allowChoice }: SelectionChange): Promise<void> {
  const { db, who } = call;
  requirePermission(who, 'settings:manage');
  const rows = await lockThemes(db);
  const before = await readServerChoice(db);
  const after: ServerChoice = { selection, allowChoice: allowChoice ?? before.allowChoice };
  if (!(await holdThemes(db, themesIn(selection)))) throw notFound();
  refuseContrast(defaultIds(after).map((id) => compiledOf(chainIn(id, rows))));
  if (isDeepStrictEqual(before, after)) return;
  await writeServerChoice(db, after);
  await audit(call, 'theme.default', { before: toServerTheme(before), after: toServerTheme(after) });
  await call.emit('settings.changed', { keys: ['themes.default'] });
  announce(call);
}
