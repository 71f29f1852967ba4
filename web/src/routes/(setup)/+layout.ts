import { loadRest } from '#features/session/language.ts';

export const load = loadRest;
