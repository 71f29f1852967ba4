export { attachedNames } from './attached.ts';
