export { default as LivePage } from './LivePage.svelte';
export { keepZapList } from './zap.ts';
