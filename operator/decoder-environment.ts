// What the processes that decode foreign files are told, in a cluster and on one machine. Pure.

/** Names of what a transcode worker needs; keys, settings, mail, sign-in and backups are none of its business. */
const NEEDED = new Set([
  'FOYER_DATABASE_URL',
  'FOYER_REDIS_URL',
  'FOYER_OBJECTS_URL',
  'FOYER_KEYS_FILE', // its place, which every process is told; the file is not there in the pod
  'FOYER_MEDIA_ROOTS',
  'FOYER_HOST',
  'FOYER_SCRATCH_DIR',
  'FOYER_LOG_LEVEL',
  'FOYER_METRICS_PORT',
  'FOYER_MAX_SESSIONS',
  'FOYER_POD',
  'FOYER_NODE',
]);

/** The environment of all processes, less what a worker that decodes does not need; settings of transcoding alone. */
export function decoderEnvironment<V>(
  shared: Readonly<Record<string, V>>,
  settings: Readonly<Record<string, unknown>>,
): Record<string, V | string> {
  const kept = Object.entries(shared).filter(([name]) => !name.startsWith('FOYER_') || NEEDED.has(name));
  const own = Object.entries(settings).filter(([key]) => key.startsWith('transcode.'));
  return { ...Object.fromEntries(kept), FOYER_SETTINGS: JSON.stringify(Object.fromEntries(own)) };
}
