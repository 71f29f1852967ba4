import { loadLaterTexts } from '#features/session/later-texts.ts';

export const load = loadLaterTexts;
