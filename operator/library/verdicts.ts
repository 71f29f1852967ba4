// Observed state of a library -> its conditions. Pure.
import type { Verdict } from '../schemas/conditions.ts';
import type { Named } from '../server-api/accounts.ts';
import { type Answer, refusalText } from '../server-api/server-client.ts';
import type { ServerLibrary } from './server-library.ts';

/** Conditions of a library that does not exist. */
export function refused(answer: Answer): Verdict[] {
  const message = `the server refused the library: ${refusalText(answer)}`;
  const verdict = { status: 'False', reason: 'ApiRefused', message } as const;
  return [
    { type: 'Ready', ...verdict },
    { type: 'Synced', ...verdict },
  ];
}

export function verdictsOf(library: ServerLibrary, synced: Verdict): Verdict[] {
  const folders = foldersOf(library);
  // A missing account does not block those that wait for the library.
  const faults = [folders, synced].filter(({ status, reason }) => status === 'False' && reason !== 'AccountUnknown');
  const ready: Verdict = faults[0]
    ? { ...faults[0], type: 'Ready' }
    : { type: 'Ready', status: 'True', reason: 'AllReady', message: 'The server has it, and its folders can be read' };
  return [ready, scanned(library), folders, synced];
}

/** Paths are long. */
const MESSAGE_MAX = 4000;

function foldersOf({ folders }: ServerLibrary): Verdict {
  const type = 'FoldersAvailable';
  const unavailable = folders.filter(({ state }) => state !== 'available');
  if (unavailable.length === 0)
    return { type, status: 'True', reason: 'FoldersFound', message: `${folders.length} folders` };
  const names = unavailable.map(({ storageName = 'media', path = '', state }) => `${storageName}:/${path} (${state})`);
  const message = `cannot be read: ${listed(names)}: check the volume and that it holds the folder`;
  return { type, status: 'False', reason: 'FolderMissing', message: message.slice(0, MESSAGE_MAX) };
}

/** Maximum number of names in one message. */
const NAMED_MAX = 10;

function listed(names: readonly string[]): string {
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  return `${names.slice(0, NAMED_MAX).join(', ')}${more}`;
}

/** Whether the server holds the declared state, by its last response and the accounts named. */
export function syncedOf(answer: Answer, { unknown }: Named): Verdict {
  const type = 'Synced';
  if (answer.status >= 300) return { type, status: 'False', reason: 'ApiRefused', message: refusalText(answer) };
  if (unknown.length === 0)
    return { type, status: 'True', reason: 'InSync', message: 'The server holds the declared state' };
  const message = `spec.access.users: no account is named ${listed(unknown)}: make them, or correct the names; all else is in sync`;
  return { type, status: 'False', reason: 'AccountUnknown', message };
}

function scanned({ lastScan }: ServerLibrary): Verdict {
  const type = 'Scanned';
  if (!lastScan) return { type, status: 'False', reason: 'NeverScanned', message: 'No scan has ended yet' };
  const { state, added, updated, missing } = lastScan;
  const message = `${state}: ${added} added, ${updated} updated, ${missing} missing`;
  if (state === 'completed') return { type, status: 'True', reason: 'Completed', message };
  if (state === 'failed' || state === 'cancelled') return { type, status: 'False', reason: 'ScanFailed', message };
  return { type, status: 'Unknown', reason: 'Scanning', message: state };
}
