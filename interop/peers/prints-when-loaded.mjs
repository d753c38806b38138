// As some dependencies do.
process.stdout.write('This module was loaded\n');
