import { type Db, existing } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import { DEFAULT } from './document/built-in.ts';
import type { ServerTheme, ThemeSelection } from './themes.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'theme_default.mode': ThemeSelection['mode'];
    'theme_default.reduced_motion': ThemeSelection['reducedMotion'];
    'theme_default.high_contrast': ThemeSelection['highContrast'];
    'theme_selections.mode': ThemeSelection['mode'];
    'theme_selections.reduced_motion': ThemeSelection['reducedMotion'];
    'theme_selections.high_contrast': ThemeSelection['highContrast'];
  }
}

type SelectionRow = Pick<
  Row<'theme_selections'>,
  'mode' | 'theme_id' | 'light_theme_id' | 'dark_theme_id' | 'text_scale' | 'reduced_motion' | 'high_contrast'
>;

/** The selection of profiles that chose nothing. */
export interface ServerChoice {
  selection: ThemeSelection;
  allowChoice: boolean;
}

function toSelection(row: SelectionRow): ThemeSelection {
  return {
    mode: row.mode,
    themeId: row.theme_id,
    lightThemeId: row.light_theme_id,
    darkThemeId: row.dark_theme_id,
    textScale: row.text_scale,
    reducedMotion: row.reduced_motion,
    highContrast: row.high_contrast,
  };
}

function toRow(selection: ThemeSelection): SelectionRow {
  return {
    mode: selection.mode,
    theme_id: selection.themeId,
    light_theme_id: selection.lightThemeId,
    dark_theme_id: selection.darkThemeId,
    text_scale: selection.textScale,
    reduced_motion: selection.reducedMotion,
    high_contrast: selection.highContrast,
  };
}

export async function readServerChoice(db: Db): Promise<ServerChoice> {
  const row = existing(await db('theme_default').first());
  return { selection: toSelection(row), allowChoice: row.allow_choice };
}

export async function writeServerChoice(db: Db, { selection, allowChoice }: ServerChoice): Promise<void> {
  await db('theme_default').update({ ...toRow(selection), allow_choice: allowChoice, updated_at: new Date() });
}

/** The stored selection; undefined if there is none. */
export async function findSelection(db: Db, profileId: string): Promise<ThemeSelection | undefined> {
  const row = await db('theme_selections').where({ profile_id: profileId }).first();
  return row && toSelection(row);
}

export async function writeSelection(db: Db, profileId: string, selection: ThemeSelection): Promise<void> {
  const row = { profile_id: profileId, ...toRow(selection), updated_at: new Date() };
  await db('theme_selections').insert(row).onConflict('profile_id').merge();
}

const NO_THEMES = { themeId: null, lightThemeId: null, darkThemeId: null };

/** The selection in force for a profile: its own, with the server's themes if it may not choose or chose none. */
export function selectionInForce(own: ThemeSelection | undefined, server: ServerChoice): ThemeSelection {
  const selection = own ?? { ...server.selection, ...NO_THEMES };
  return server.allowChoice ? selection : { ...selection, ...NO_THEMES };
}

export function toServerTheme({ selection, allowChoice }: ServerChoice): ServerTheme {
  const { themeId, lightThemeId, darkThemeId, mode } = selection;
  return {
    themeId: themeId ?? DEFAULT,
    ...(lightThemeId && { lightThemeId }),
    ...(darkThemeId && { darkThemeId }),
    mode,
    allowChoice,
  };
}

/** The themes of the server's default. */
export function defaultIds({ selection: { themeId, lightThemeId, darkThemeId } }: ServerChoice): string[] {
  return [...new Set([themeId ?? DEFAULT, lightThemeId, darkThemeId].filter((id) => id !== null))];
}
