// The environment of processes that decode media files, in a cluster and on one machine. Pure.

/** Variables that a transcode worker needs. It gets no keys, settings, mail, sign-in or backup configuration. */
const NEEDED = new Set([
  'FOYER_DATABASE_URL',
  'FOYER_REDIS_URL',
  'FOYER_OBJECTS_URL',
  'FOYER_KEYS_FILE', // the path is required by every process; the pod does not have the file
  'FOYER_MEDIA_ROOTS',
  'FOYER_HOST',
  'FOYER_SCRATCH_DIR',
  'FOYER_LOG_LEVEL',
  'FOYER_METRICS_PORT',
  'FOYER_MAX_SESSIONS',
  'FOYER_POD',
  'FOYER_NODE',
]);

/**
 * The environment of all processes without the variables that a decoding worker does not need, and with the transcoding
 * settings only.
 */
export function decoderEnvironment<V>(
  shared: Readonly<Record<string, V>>,
  settings: Readonly<Record<string, unknown>>,
): Record<string, V | string> {
  const kept = Object.entries(shared).filter(([name]) => !name.startsWith('FOYER_') || NEEDED.has(name));
  const own = Object.entries(settings).filter(([key]) => key.startsWith('transcode.'));
  return { ...Object.fromEntries(kept), FOYER_SETTINGS: JSON.stringify(Object.fromEntries(own)) };
}
