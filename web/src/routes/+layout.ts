import { loadLanguage } from '#features/session/language.ts';

export const ssr = false;
export const prerender = false;

export const load = loadLanguage;
