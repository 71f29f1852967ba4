import { defineArea } from '#kernel/endpoint.ts';
import { cancelJobs, listJobs, retryJobs } from './jobs.endpoints.ts';

export const jobsArea = defineArea('jobs', 'Jobs', [listJobs, retryJobs, cancelJobs]);
