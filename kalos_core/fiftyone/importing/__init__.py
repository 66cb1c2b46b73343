"""Loading of files into data sets, all or nothing: object labels, tables of image-level labels, folders of masks."""
