export { default as PlayerPage } from './PlayerPage.svelte';
