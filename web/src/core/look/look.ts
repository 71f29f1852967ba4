// How the app looks for a profile: the sheet of its theme for each scheme, the scheme, the size of text and motion.
import type { ResponseOf, ThemeSelection } from '../../../../api/client/index.ts';

export type Scheme = 'dark' | 'light';
export type Mode = ThemeSelection['mode'];

export interface Dress {
  /** Address of the sheet; absent for the server's default theme, which the shell links. */
  sheet?: string;
  /** The scheme that the theme has; a theme may have one alone. */
  scheme: Scheme;
}

export interface Look {
  mode: Mode;
  dark: Dress;
  light: Dress;
  /** For a device that prefers more contrast, where the profile follows the device. */
  contrast: Record<Scheme, Dress> | null;
  /** Of the size of text. */
  scale: number;
  reducedMotion: boolean;
}

type Themes = Pick<ResponseOf<'listThemes'>, 'items' | 'selection' | 'serverDefault'>;

const CONTRAST = 'high-contrast';
/** Of the theme for more contrast, which a browser wears that has no look of a profile. */
export const CONTRAST_SHEET = `/api/v1/themes/${CONTRAST}/stylesheet`;

export function lookOf({ items, selection, serverDefault }: Themes): Look {
  const dressIn = (id: string, scheme: Scheme): Dress => {
    const theme = items.find((item) => item.id === id);
    if (!theme) return { scheme };
    return {
      ...(id !== serverDefault.themeId && { sheet: theme.stylesheetUrl }),
      scheme: theme.schemeNames.includes(scheme) ? scheme : (theme.schemeNames[0] ?? scheme),
    };
  };
  const dress = (scheme: Scheme): Dress => {
    if (selection.highContrast === 'on') return dressIn(CONTRAST, scheme);
    const own = selection[`${scheme}ThemeId`] ?? selection.themeId;
    return dressIn(own ?? serverDefault[`${scheme}ThemeId`] ?? serverDefault.themeId, scheme);
  };
  return {
    mode: selection.mode,
    dark: dress('dark'),
    light: dress('light'),
    contrast:
      selection.highContrast === 'system'
        ? { dark: dressIn(CONTRAST, 'dark'), light: dressIn(CONTRAST, 'light') }
        : null,
    scale: selection.textScale,
    reducedMotion: selection.reducedMotion === 'on',
  };
}

/** Changes with any token of the server's default theme. */
export const defaultVersion = ({ items, serverDefault }: Themes): string | undefined =>
  items.find(({ id }) => id === serverDefault.themeId)?.stylesheetUrl;
