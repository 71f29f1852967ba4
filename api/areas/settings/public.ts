export { writeChosen } from './settings.store.ts';
export { takeOverDeclared } from './take-over.ts';
