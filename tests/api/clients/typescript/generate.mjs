// Writes the types of the document: node generate.mjs DOCUMENT SCHEMA. Files of a form are Blobs.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const [documentPath, schemaPath] = process.argv.slice(2);
const blob = ts.factory.createTypeReferenceNode(ts.factory.createIdentifier("Blob"));
const ast = await openapiTS(JSON.parse(await readFile(documentPath, "utf8")), {
  transform: (schema) => (schema.format === "binary" ? blob : undefined),
});
await writeFile(schemaPath, astToString(ast));
