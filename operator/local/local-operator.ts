// `operator local`: the same resources as in a cluster, reconciled into child processes. Level-triggered: each pass looks,
// compares and does what is missing.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WITHOUT_BACKUP } from '../backup-first.ts';
import { DeclaredBodies } from '../declared/bodies.ts';
import { DECLARED } from '../declared/verdict.ts';
import { type ObservedApi, seeApi } from '../observed-api.ts';
import { type Ask, serverClient } from '../server-api/server-client.ts';
import { brandingFolder, writeBranding } from './branding-folder.ts';
import { restoreProcess, serverProcesses } from './desired.ts';
import { managedBy, type Place, type Server, type Stores, serverEnvironment } from './environment.ts';
import { CannotStart, whyNoStart } from './first-start.ts';
import { LibraryReconciler } from './library-reconciler.ts';
import { LinesOnce } from './lines-once.ts';
import { Migration } from './migration.ts';
import { apiProbe, countTranscodeWorkers, hasFfmpeg, seeDisk, seeObjects, workerProbe } from './observe.ts';
import { isRestoring, queryPostgres } from './postgres.ts';
import { queryRedis } from './redis.ts';
import type { Resources } from './resources.ts';
import { RunFiles } from './run-files.ts';
import { Source } from './source.ts';
import type { State } from './state.ts';
import { StatusFile } from './status-file.ts';
import { LocalStores } from './stores.ts';
import { Supervisor } from './supervisor.ts';
import { TranscodeWorkers } from './transcode-workers.ts';
import { LocalTuners } from './tuners.ts';
import { type Seen, serverStatus, serverVerdicts } from './verdicts.ts';
import { codeVersion } from './version.ts';

const CALM_MS = 5000;
const CALM_WITHOUT_WORKERS_MS = 2000; // a session may wait for the first transcode worker
const BUSY_MS = 150;
const FILES_MS = 1000;

export interface LocalOptions {
  port: number;
  files: readonly string[];
  openSetup: boolean;
  /** Lines for people: `ready …`, `setup …`. */
  say(line: string): void;
  /** What goes wrong, for people. */
  warn(line: string): void;
}

/** The files are not in order, and nothing was started before. */
export class BadFiles extends Error {}

export class LocalOperator {
  readonly #options: LocalOptions;
  readonly #state: State;
  readonly #place: Place;
  readonly #source: Source;
  readonly #status: StatusFile;
  readonly #supervisor: Supervisor;
  readonly #stores: LocalStores;
  readonly #migration = new Migration();
  readonly #ask: Ask;
  readonly #libraries: LibraryReconciler;
  readonly #tuners = new LocalTuners();
  readonly #declared = new DeclaredBodies();
  readonly #transcode = new TranscodeWorkers((line) => this.#lines.warn(line));
  readonly #lines: LinesOnce;
  readonly #files: RunFiles;
  #wake = new AbortController();
  #inUse: Stores | undefined;
  #fault: string | undefined;
  /** Why the stores could not be prepared. */
  #storesFault: string | undefined;
  #wasReady = false;
  #storesAt = Date.now(); // when both answered last, or the start

  constructor(state: State, options: LocalOptions) {
    const { port, openSetup, files } = options;
    this.#options = options;
    this.#lines = new LinesOnce(options);
    this.#state = state;
    this.#files = new RunFiles(state.dir);
    const { dir, keysFile, operatorKey, claimCode } = state;
    const lookups = {
      mediaId: (name: string) => state.mediaId(name),
      uidOf: (kind: string, name: string) => state.uidOf(kind, name),
    };
    this.#place = { dir, port, openSetup, keysFile, operatorKey, claimCode, ...lookups };
    this.#source = new Source(files);
    this.#status = new StatusFile(dir, state);
    this.#stores = new LocalStores(state);
    this.#ask = serverClient(`http://127.0.0.1:${port}`, operatorKey);
    this.#libraries = new LibraryReconciler(this.#status, this.#ask, this.#place);
    this.#supervisor = new Supervisor({ dir, probes: this.#probes() });
    this.#supervisor.on('change', () => this.#wake.abort());
    this.#supervisor.on('fault', ({ message }) => this.#lines.warn(message));
  }

  /** Throws BadFiles, with every problem, when the files are not in order; else runs until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const watching = setInterval(() => this.#source.changed() && this.#wake.abort(), FILES_MS);
    try {
      this.#read();
      if (!this.#source.resources) throw new BadFiles(this.#source.problems.join('\n'));
      while (!signal.aborted) await this.#turn(signal);
    } finally {
      clearInterval(watching);
      await this.#supervisor.stop();
    }
  }

  /** Ends every child at once. */
  kill(): void {
    this.#supervisor.kill();
  }

  async #turn(signal: AbortSignal): Promise<void> {
    this.#wake = new AbortController();
    const calm = await this.#pass(signal).catch((error: Error) => {
      if (error instanceof CannotStart) throw error;
      this.#lines.warn(error.message);
      return true;
    });
    const either = AbortSignal.any([signal, this.#wake.signal]);
    const calmMs = this.#supervisor.children('transcode').length === 0 ? CALM_WITHOUT_WORKERS_MS : CALM_MS;
    await sleep(calm ? calmMs : BUSY_MS, undefined, { signal: either }).catch(() => undefined);
    if (!signal.aborted && this.#wake.signal.aborted) await sleep(BUSY_MS); // changes come in flocks
  }

  /** True when there is nothing to wait for but changes. */
  async #pass(signal: AbortSignal): Promise<boolean> {
    this.#read();
    const { resources } = this.#source;
    const server = resources?.servers[0];
    if (!resources || !server) return true;
    if (!server.spec.suspend) await this.#reconciled(server, resources, signal);
    if (signal.aborted) return true;
    const { seen, api } = await this.#look();
    this.#announce(api, server);
    this.#warnOfEnds(seen);
    if (api.apiReady) await this.#bring(server, resources);
    await this.#tuners.report(this.#status, resources, this.#supervisor.children('tuner'));
    const { seen: declared } = this.#declared;
    this.#report(server, { ...seen, ...(declared && { declared }) }, resources);
    this.#endWithoutStores(server, seen);
    return seen.apiReady && !seen.replacing && seen.database === true;
  }

  /** Before the server was ever ready nobody is served: who waits for it at the terminal wants to know. */
  #endWithoutStores({ spec }: Server, seen: Seen): void {
    this.#wasReady ||= seen.apiReady;
    if (this.#wasReady || spec.suspend) return;
    if (seen.database === true && seen.redis === true) this.#storesAt = Date.now();
    const start = { sinceMs: Date.now() - this.#storesAt, logsDir: join(this.#state.dir, 'logs'), spec };
    const why = this.#storesFault ?? whyNoStart(seen, start);
    if (why !== undefined) throw new CannotStart(why);
  }

  #read(): void {
    if (!this.#source.read(this.#status.specs())) return;
    for (const problem of this.#source.resources ? this.#source.problems : []) this.#options.warn(problem);
    const { resources } = this.#source;
    if (!resources || this.#source.isRefused) return;
    const all = [...resources.servers, ...resources.libraries, ...resources.tuners];
    for (const resource of all) this.#status.put(resource);
    for (const item of [...this.#status.ofKind('MediaServer'), ...this.#status.ofKind('TunerDevice')])
      if (!all.some(({ kind, name }) => kind === item.kind && name === item.metadata.name))
        this.#status.drop(item.kind, item.metadata.name);
  }

  /** What stands in the way is told and stands in the status; the next pass tries again. */
  async #reconciled(server: Server, resources: Resources, signal: AbortSignal): Promise<void> {
    this.#fault = undefined;
    this.#storesFault = undefined;
    await this.#reconcile(server, resources, signal).catch((error: Error) => {
      this.#fault = error.message;
      if (this.#storesFault === undefined || this.#wasReady) this.#lines.warn(error.message);
    });
  }

  async #reconcile(server: Server, resources: Resources, signal: AbortSignal): Promise<void> {
    const { specs, stores } = await this.#stores.wanted(server, resources).catch((error: Error) => {
      this.#storesFault = error.message;
      throw error;
    });
    const moved = this.#inUse !== undefined && JSON.stringify(this.#inUse) !== JSON.stringify(stores);
    this.#inUse = stores;
    // A store that is no longer wanted goes only when nobody uses it any more: after the processes moved over.
    const known = this.#supervisor.children().filter(({ spec }) => ['postgres', 'redis'].includes(spec.role));
    const kept = known.map(({ spec }) => spec).filter((spec) => !specs.some(({ name }) => name === spec.name));
    await this.#supervisor.apply(moved ? [...specs, ...kept] : specs, ['postgres', 'redis']);
    if ((await queryPostgres(stores.databaseUrl)) !== true) return;
    const place = this.#place;
    this.#files.writeOwner(server, resources);
    const branding = server.spec.branding && resources.configMaps.get(server.spec.branding.configMapRef.name);
    if (branding) writeBranding(brandingFolder(this.#state.dir), branding);
    const environment = serverEnvironment(server, resources, { place, stores });
    this.#files.keepEnvironment(environment);
    const restoring = await isRestoring(stores.databaseUrl);
    if (restoring !== undefined)
      await this.#supervisor.apply(restoring ? [restoreProcess(environment)] : [], ['restore']);
    if (!(await this.#migrated(server, environment, signal))) return;
    const transcoding = await this.#transcode.count(server.spec.transcode, this.#supervisor);
    const processes = serverProcesses(server.spec, environment, { transcoding });
    await this.#supervisor.apply(processes, ['api', 'worker', 'transcode']);
    await this.#supervisor.apply(this.#tuners.processes(server, resources), ['tuner']);
  }

  async #migrated(server: Server, environment: Record<string, string>, signal: AbortSignal): Promise<boolean> {
    return this.#migration.ensure(environment, {
      run: (job) => this.#supervisor.runOnce(job, signal),
      say: (line) => this.#lines.say(line),
      withoutBackup: server.annotations[WITHOUT_BACKUP] === codeVersion,
      server: `MediaServer ${server.name} in ${server.source.file}`,
    });
  }

  async #look(): Promise<{ seen: Seen; api: ObservedApi }> {
    const stores = this.#inUse;
    const api = await seeApi(this.#ask);
    const processes = this.#supervisor.children().map((child) => {
      const { spec, state, restarts, lastEnd } = child;
      return { name: spec.name, role: spec.role, state, restarts, lastEnd, served: this.#supervisor.isServed(child) };
    });
    const absent = this.#fault ?? 'it was not started';
    const [database, redis, transcodeWorkers] = await Promise.all([
      stores ? queryPostgres(stores.databaseUrl) : absent,
      stores ? queryRedis(stores.redisUrl) : absent,
      stores ? countTranscodeWorkers(stores.redisUrl) : 0,
    ]);
    const objects = stores ? seeObjects(stores.objectsUrl, api.health) : absent;
    const others = {
      disk: await seeDisk(this.#state.dir),
      ffmpeg: hasFfmpeg(),
      problems: this.#source.problems,
      refused: this.#source.isRefused,
      replacing: this.#supervisor.replacing,
    };
    const { apiReady, version, health, backup } = api;
    const told = { apiReady, version, health, ...(backup && { backup }) };
    const answers = { ...told, transcodeWorkers, migrations: this.#migration.state };
    return { seen: { database, redis, objects, processes, ...answers, ...others }, api };
  }

  #announce({ apiReady, setupComplete }: ObservedApi, server: Server): void {
    if (!apiReady) return;
    const address = `http://127.0.0.1:${this.#place.port}`;
    this.#lines.say(`ready ${address}`);
    if (setupComplete === false && !server.spec.ownerSecretRef)
      this.#lines.say(`setup ${address}/setup#claim=${this.#state.claimCode}`);
  }

  /** What the server gets through its API. */
  async #bring(server: Server, resources: Resources): Promise<void> {
    if (server.spec.suspend) return;
    await this.#libraries.pass(resources);
    await this.#declare(server, resources);
  }

  /** What spec.declared says, and once more when it says nothing any longer. */
  async #declare(server: Server, { configMaps }: Resources): Promise<void> {
    const maps = server.spec.declared.map(({ configMapRef: { name } }) => ({
      configMap: name,
      files: configMaps.get(name),
    }));
    const conditions = this.#status.get('MediaServer', server.name)?.status.conditions ?? [];
    if (maps.length === 0 && !conditions.some((condition) => condition['type'] === DECLARED)) return;
    await this.#declared.pass({ ask: this.#ask, maps, managedBy: managedBy(server, this.#place) });
  }

  #report(server: Server, seen: Seen, resources: Resources): void {
    const item = this.#status.get('MediaServer', server.name);
    const url = `http://127.0.0.1:${this.#place.port}`;
    const counts = { libraries: resources.libraries.length, tuners: resources.tuners.length };
    const version = seen.version ?? (item?.status as { version?: string } | undefined)?.version; // as it was last heard
    const status = { ...serverStatus(server.spec, { ...seen, version }, url), ...counts };
    if (item) this.#status.report(item, status, serverVerdicts(server.spec, seen));
    if (!seen.apiReady) this.#libraries.serverAway();
    this.#status.save();
  }

  #probes() {
    const worker = workerProbe();
    const database = async () => !this.#inUse || (await queryPostgres(this.#inUse.databaseUrl)) === true;
    const redis = async () => !this.#inUse || (await queryRedis(this.#inUse.redisUrl)) === true;
    return { api: apiProbe, worker, transcode: worker, tuner: worker, postgres: database, redis };
  }

  /** What ends again and again before it ever answered keeps the server from starting: somebody who waits for it wants to know. */
  #warnOfEnds({ processes }: Seen): void {
    for (const { name, state, lastEnd, restarts } of processes)
      if (state === 'backoff' && restarts >= 2)
        this.#lines.warn(
          `${name} ends again and again (${lastEnd}): see ${join(this.#state.dir, 'logs', `${name}.log`)}`,
        );
    const { state, message } = this.#migration.state;
    if (state === 'failed' || state === 'not-backed-up')
      this.#lines.warn(`${message.replace('logs/', join(this.#state.dir, 'logs/'))}`);
  }
}
