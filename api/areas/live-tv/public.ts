/** Live TV for other areas and for workers. */
export * from './guide/public.ts';
export { liveNetworks, liveOutbound, requestOf } from './tuners/addresses.ts';
