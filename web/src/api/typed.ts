// Requests whose parameters and answers are checked against the OpenAPI document. The first page does without, which
// keeps it smaller.
import createClient from 'openapi-fetch';
import { send } from './client';
import type { paths } from './schema';

export const api = createClient<paths>({ baseUrl: '.', fetch: send });
