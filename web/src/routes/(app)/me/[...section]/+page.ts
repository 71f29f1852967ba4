import { toMine } from '#features/me/sections.ts';

export const load = toMine;
