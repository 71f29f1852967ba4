import { defineArea } from '#kernel/endpoint.ts';
import {
  createTheme,
  deleteTheme,
  getTheme,
  getThemeStylesheet,
  listThemes,
  setThemeSelection,
  updateTheme,
} from './themes.endpoints.ts';

export const themesArea = defineArea('themes', 'Themes', [
  listThemes,
  createTheme,
  getTheme,
  updateTheme,
  deleteTheme,
  getThemeStylesheet,
  setThemeSelection,
]);
