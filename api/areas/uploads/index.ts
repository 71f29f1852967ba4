import { defineArea } from '#kernel/endpoint.ts';
import { cancelUpload, createUploads, listUploads, putUploadChunk } from './uploads.endpoints.ts';

export const uploadsArea = defineArea('uploads', 'Uploads', [createUploads, listUploads, putUploadChunk, cancelUpload]);
