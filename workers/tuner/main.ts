import { createLog } from '#platform/log.ts';
import { readTunerConfig } from './config.ts';
import { isChild, supervise } from './supervisor.ts';

const config = readTunerConfig();
if (config.streams && !isChild()) supervise(createLog(config.logLevel, 'tuner-supervisor'));
else await (await import('./tuner.ts')).runTuner(config);
