export { prepareServer } from './prepare.ts';
export { openSetup, type ServerStateRow, setupCookie, storeTicket } from './state.store.ts';
