// `operator local`: the same resources as in a cluster, reconciled into child processes. Level-triggered: each pass observes,
// compares and acts on the difference.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WITHOUT_BACKUP } from '../backup-first.ts';
import { type ObservedApi, observeApi } from '../observed-api.ts';
import { type SendRequest, serverClient } from '../server-api/server-client.ts';
import { brandingFolder, writeBranding } from './branding-folder.ts';
import { LocalDeclared } from './declared.ts';
import { restoreProcess, serverProcesses } from './desired.ts';
import { type Place, type Server, type Stores, serverEnvironment } from './environment.ts';
import { CannotStart, whyNoStart } from './first-start.ts';
import { LibraryReconciler } from './library-reconciler.ts';
import { LinesOnce } from './lines-once.ts';
import { Migration } from './migration.ts';
import { countTranscodeWorkers, hasFfmpeg, localProbes, seeDisk, seeObjects } from './observe.ts';
import { isRestoring, queryPostgres } from './postgres.ts';
import { queryRedis } from './redis.ts';
import type { Resources } from './resources.ts';
import { RunFiles } from './run-files.ts';
import { Source } from './source.ts';
import { LocalSpeech } from './speech.ts';
import type { State } from './state.ts';
import { StatusFile } from './status-file.ts';
import { LocalStores } from './stores.ts';
import { Supervisor } from './supervisor.ts';
import { TranscodeWorkers } from './transcode-workers.ts';
import { TunerReconciler } from './tuner-reconciler.ts';
import { LocalTuners } from './tuners.ts';
import { type Observed, serverStatus, serverVerdicts } from './verdicts.ts';
import { codeVersion } from './version.ts';

const CALM_MS = 5000;
const CALM_WITHOUT_WORKERS_MS = 2000; // a session may wait for the first transcode worker
const BUSY_MS = 150;
const FILES_MS = 1000;

export interface LocalOptions {
  port: number;
  files: readonly string[];
  openSetup: boolean;
  /** Lines for people: `ready …`, `setup …`; problems go to `warn`. */
  say(line: string): void;
  warn(line: string): void;
  /** Gets the page to begin with, each time that the server is ready. */
  open(address: string): void;
}

/** The files are invalid, and nothing was started. */
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
  readonly #request: SendRequest;
  readonly #libraries: LibraryReconciler;
  readonly #tuners = new LocalTuners();
  readonly #rows: TunerReconciler;
  readonly #speech = new LocalSpeech();
  readonly #declared: LocalDeclared;
  readonly #transcode = new TranscodeWorkers((line) => this.#lines.warn(line));
  readonly #lines: LinesOnce;
  readonly #files: RunFiles;
  #wake = new AbortController();
  #inUse: Stores | undefined;
  #fault: string | undefined;
  #storesFault: string | undefined; // why the stores could not be prepared
  #wasReady = false;
  #storesAt = Date.now(); // when both stores last answered, or the start
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
    this.#request = serverClient(`http://127.0.0.1:${port}`, operatorKey);
    this.#declared = new LocalDeclared({ request: this.#request, place: this.#place, status: this.#status });
    this.#libraries = new LibraryReconciler(this.#status, this.#request, this.#place);
    this.#rows = new TunerReconciler(this.#request, this.#place);
    this.#supervisor = new Supervisor({ dir, probes: localProbes(() => this.#inUse) });
    this.#supervisor.on('change', () => this.#wake.abort());
    this.#supervisor.on('fault', ({ message }) => this.#lines.warn(message));
  }

  /** Throws BadFiles, with every problem, when the files are invalid; otherwise runs until the signal. */
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

  /** Kills every child. */
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
    if (!signal.aborted && this.#wake.signal.aborted) await sleep(BUSY_MS); // changes arrive in bursts
  }

  /** True when the next pass can wait for a change. */
  async #pass(signal: AbortSignal): Promise<boolean> {
    this.#read();
    const { resources } = this.#source;
    const server = resources?.servers[0];
    if (!resources || !server) return true;
    if (!server.spec.suspend) await this.#reconciled(server, resources, signal);
    if (signal.aborted) return true;
    const { observed, api } = await this.#look();
    this.#announce(api, server);
    this.#warnOfEnds(observed);
    if (api.apiReady) await this.#applyThroughApi(server, resources);
    const children = this.#supervisor.children('tuner');
    await this.#tuners.report(this.#status, resources, { children, ...this.#rows.known() });
    this.#report(server, { ...observed, ...this.#declared.observed }, resources);
    this.#endWithoutStores(server, observed);
    return observed.apiReady && !observed.replacing && observed.database === true;
  }

  /** Until the server was ready for the first time no one is served, and the user at the terminal needs the error. */
  #endWithoutStores({ spec }: Server, observed: Observed): void {
    this.#wasReady ||= observed.apiReady;
    if (this.#wasReady || spec.suspend) return;
    if (observed.database === true && observed.redis === true) this.#storesAt = Date.now();
    const start = { sinceMs: Date.now() - this.#storesAt, logsDir: join(this.#state.dir, 'logs'), spec };
    const why = this.#storesFault ?? whyNoStart(observed, start);
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

  /** Errors are printed and reported in the status; the next pass retries. */
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
    // A store that is no longer desired stops after all processes have moved to the new one.
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
    await this.#supervisor.apply(await this.#speech.processes(server, environment, this.#supervisor), ['speech']);
    await this.#supervisor.apply(this.#tuners.processes(server, resources, this.#rows.known(environment)), ['tuner']);
  }

  async #migrated(server: Server, environment: Record<string, string>, signal: AbortSignal): Promise<boolean> {
    return this.#migration.ensure(environment, {
      run: (job) => this.#supervisor.runOnce(job, signal),
      say: (line) => this.#lines.say(line),
      withoutBackup: server.annotations[WITHOUT_BACKUP] === codeVersion,
      server: `MediaServer ${server.name} in ${server.source.file}`,
    });
  }

  async #look(): Promise<{ observed: Observed; api: ObservedApi }> {
    const stores = this.#inUse;
    const api = await observeApi(this.#request);
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
      speech: await this.#speech.look(this.#supervisor),
    };
    const { apiReady, version, health, backup } = api;
    const reported = { apiReady, version, health, ...(backup && { backup }) };
    const answers = { ...reported, transcodeWorkers, migrations: this.#migration.state };
    return { observed: { database, redis, objects, processes, ...answers, ...others }, api };
  }

  #announce({ apiReady, setupComplete }: ObservedApi, server: Server): void {
    if (!apiReady) return;
    const address = `http://127.0.0.1:${this.#place.port}`;
    this.#lines.say(`ready ${address}`);
    const unowned = setupComplete === false && !server.spec.ownerSecretRef;
    const setup = `${address}/setup#claim=${this.#state.claimCode}`;
    if (unowned) this.#lines.say(`setup ${setup}`);
    if (setupComplete !== undefined) this.#options.open(unowned ? setup : address);
  }

  /** Applies resources through the server's API. */
  async #applyThroughApi(server: Server, resources: Resources): Promise<void> {
    if (server.spec.suspend) return;
    await this.#declared.applyBuckets(server, resources);
    await this.#libraries.pass(resources);
    await this.#rows.pass(resources);
    await this.#declared.applyBodies(server, resources);
  }

  #report(server: Server, observed: Observed, resources: Resources): void {
    const item = this.#status.get('MediaServer', server.name);
    const url = `http://127.0.0.1:${this.#place.port}`;
    const counts = { libraries: resources.libraries.length, tuners: resources.tuners.length };
    const version = observed.version ?? (item?.status as { version?: string } | undefined)?.version; // as last reported
    const status = { ...serverStatus(server.spec, { ...observed, version }, url), ...counts };
    if (item) this.#status.report(item, status, serverVerdicts(server.spec, observed));
    if (!observed.apiReady) this.#libraries.serverUnavailable();
    this.#status.save();
  }

  /** Warns the user at the terminal of processes that keep the server from starting. */
  #warnOfEnds({ processes }: Observed): void {
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
