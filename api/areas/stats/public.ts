export { countContent } from './figures/content.store.ts';
export { movePlays, type PlayDraft, recordPlay, trimPlays } from './plays.store.ts';
