export { Job } from './jobs.schemas.ts';
export { readJob } from './jobs.view.ts';
