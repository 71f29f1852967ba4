export { prepareServer } from './prepare.ts';
