import type { Db } from '#platform/db.ts';
import { DEFAULT } from './document/built-in.ts';
import type { ServerTheme, ThemeSelection } from './themes.schemas.ts';

interface SelectionRow {
  mode: ThemeSelection['mode'];
  theme_id: string | null;
  light_theme_id: string | null;
  dark_theme_id: string | null;
  text_scale: number;
  reduced_motion: ThemeSelection['reducedMotion'];
  high_contrast: ThemeSelection['highContrast'];
}

interface DefaultRow extends SelectionRow {
  allow_choice: boolean;
}

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
  const row = await db('theme_default').first<DefaultRow>('*');
  return { selection: toSelection(row), allowChoice: row.allow_choice };
}

export async function writeServerChoice(db: Db, { selection, allowChoice }: ServerChoice): Promise<void> {
  await db('theme_default').update({ ...toRow(selection), allow_choice: allowChoice, updated_at: new Date() });
}

/** The stored selection; undefined if there is none. */
export async function findSelection(db: Db, profileId: string): Promise<ThemeSelection | undefined> {
  const row = await db('theme_selections').where({ profile_id: profileId }).first<SelectionRow | undefined>('*');
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
