export { builtInOf } from './built-in.ts';
export type { TypeRules } from './library-types.store.ts';
export type { Values } from './naming/match.ts';
export { type Reader, readerOf } from './naming/rules.ts';
export { acceptedExtensions } from './try-names.ts';
